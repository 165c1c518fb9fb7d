"""Asynchronous work happens in order: streams, events, copies that don't wait."""

from __future__ import annotations

import torch

from ..case import Level
from ..sources.own_cases import own
from ..trial import NotClaimedError, Trial
from . import numbers

SIZE = 1 << 18


def _accelerated(t: Trial) -> None:
    if t.device.type == "cpu":
        raise NotClaimedError("the CPU has neither streams nor events")


def _busy(x: torch.Tensor, times: int = 20) -> torch.Tensor:
    for _ in range(times):
        x = x * 1.0
    return x


@own("order.default.long_queue.value")
def a_long_queue(t: Trial, dtype: torch.dtype) -> None:
    x = torch.zeros(1000, device=t.device)
    for _ in range(2000):
        x += 1
    t.equal(x, torch.full((1000,), 2000.0))


@own("order.item.after_work.value")
def item_waits(t: Trial, dtype: torch.dtype) -> None:
    x = torch.ones(SIZE, device=t.device)
    for step in range(10):
        x = _busy(x, 5) + 1
        t.require(float(x[-1]) == step + 2, "value", f"item() after step {step} is {float(x[-1])}")


@own("order.copy.non_blocking.value")
def non_blocking_upload(t: Trial, dtype: torch.dtype) -> None:
    """What a copy reads is what was there when it was issued, as far as PyTorch promises: after the
    device has been waited for, the source may change."""
    source = torch.arange(float(SIZE))
    for _ in range(5):
        y = source.to(t.device, non_blocking=True)
        z = _busy(y) + 1
        t.synchronize()
        source.add_(1)
        t.require(torch.equal(z.cpu(), source), "value", "a non-blocking copy came too late")


@own("order.copy.round_trip.value")
def nothing_but_copies(t: Trial, dtype: torch.dtype) -> None:
    """What went up without waiting comes down as it was, with no operator between."""
    for step in range(5):
        source = torch.full((SIZE,), float(step))
        t.require(torch.equal(source.to(t.device, non_blocking=True).cpu(), source), "value", f"cpu() in step {step}")
        one = torch.tensor(float(step)).to(t.device, non_blocking=True)
        t.require(one.item() == step, "value", f"item() in step {step}")


@own("order.copy.download.value")
def non_blocking_download(t: Trial, dtype: torch.dtype) -> None:
    x = torch.ones(SIZE, device=t.device)
    host = torch.zeros(SIZE)
    for step in range(5):
        x = _busy(x) + 1
        host.copy_(x, non_blocking=True)
        t.synchronize()
        t.require(float(host[0]) == step + 2 and float(host[-1]) == step + 2, "value", "the host saw an old value")


def _stream(t: Trial) -> torch.Stream:
    _accelerated(t)
    return torch.Stream(device=t.device)


@own("order.stream.wait_stream.value", features=("streams",))
def one_stream_waits_for_another(t: Trial, dtype: torch.dtype) -> None:
    side, main = _stream(t), torch.accelerator.current_stream()
    for step in range(10):
        x = _busy(torch.full((SIZE,), float(step), device=t.device))
        side.wait_stream(main)
        with side:
            y = _busy(x) + 1
        main.wait_stream(side)
        z = y * 2
        t.require(float(z[0]) == 2 * step + 2 and float(z[-1]) == 2 * step + 2, "value", f"step {step}: {float(z[-1])}")


@own("order.stream.current.value", features=("streams",))
def the_current_stream_changes(t: Trial, dtype: torch.dtype) -> None:
    side, main = _stream(t), torch.accelerator.current_stream()
    t.require(side != main, "value", "a new stream is the default one")
    with side:
        t.require(torch.accelerator.current_stream() == side, "value", "inside of `with stream` another is current")
    t.require(torch.accelerator.current_stream() == main, "value", "the stream from before did not come back")


@own("order.stream.event.value", features=("streams",))
def events_order_streams(t: Trial, dtype: torch.dtype) -> None:
    side = _stream(t)
    for step in range(10):
        x = _busy(torch.full((SIZE,), float(step), device=t.device))
        event = torch.Event(device=t.device)
        event.record()
        side.wait_event(event)
        with side:
            y = _busy(x) + 3
            done = torch.Event(device=t.device)
            done.record()
        done.synchronize()
        t.require(done.query(), "value", "an event that was waited for is not done")
        t.require(float(y[-1]) == step + 3, "value", f"step {step}: {float(y[-1])}")


@own("order.event.elapsed.value", features=("event_timing",))
def elapsed_time(t: Trial, dtype: torch.dtype) -> None:
    _accelerated(t)
    first = torch.Event(device=t.device, enable_timing=True)
    last = torch.Event(device=t.device, enable_timing=True)
    first.record()
    _busy(torch.ones(SIZE, device=t.device))
    last.record()
    last.synchronize()
    t.require(0 <= first.elapsed_time(last) < 60_000, "value", f"{first.elapsed_time(last)} ms")


@own("order.stream.synchronize.value", features=("streams",))
def synchronize_waits_for_all(t: Trial, dtype: torch.dtype) -> None:
    streams = [_stream(t) for _ in range(3)]
    results = []
    x = numbers(t.device, SIZE)
    t.synchronize()
    for number, stream in enumerate(streams):
        with stream:
            results.append(_busy(x) + number)
    t.synchronize()
    for number, result in enumerate(results):
        t.require(float(result[0]) == 1 + number, "value", f"stream {number}: {float(result[0])}")
    for stream in streams:
        t.require(stream.query(), "value", "a stream is busy after the device was waited for")


@own("order.stream.memory.value", level=Level.FULL, features=("streams",))
def memory_is_not_reused_too_early(t: Trial, dtype: torch.dtype) -> None:
    """Memory that a side stream still reads is not handed out on the main one."""
    side, main = _stream(t), torch.accelerator.current_stream()
    for step in range(20):
        x = torch.full((SIZE,), float(step), device=t.device)
        side.wait_stream(main)
        with side:
            y = _busy(x, 40) + 1
        x.record_stream(side)
        del x
        torch.full((SIZE,), -1.0, device=t.device)
        side.synchronize()
        t.require(float(y[0]) == step + 1 and float(y[-1]) == step + 1, "value", f"step {step}: {float(y[-1])}")


@own("order.threads.callers.value", level=Level.FULL)
def several_threads(t: Trial, dtype: torch.dtype) -> None:
    import threading

    failures: list[str] = []

    def work(number: int) -> None:
        try:
            x = torch.full((500,), float(number), device=t.device)
            for _ in range(200):
                x = x + 1
            if not bool((x == number + 200).all()):
                failures.append(f"thread {number}: {float(x[0])}")
        except Exception as error:
            failures.append(f"thread {number}: {error}")

    threads = [threading.Thread(target=work, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    t.require(not failures, "value", "; ".join(failures))
