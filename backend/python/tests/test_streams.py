import threading

import pytest
import torch


def test_default_and_current():
    current = torch.accelerator.current_stream()
    assert current.stream_id == 0
    assert current == torch.tpu.default_stream()
    assert current.device == torch.device("tpu:0")
    assert current.query()


def test_stream_context_is_a_threads_own():
    stream = torch.tpu.Stream()
    assert stream.stream_id != 0
    seen = []
    with torch.tpu.stream(stream):
        assert torch.accelerator.current_stream() == stream
        other = threading.Thread(target=lambda: seen.append(torch.accelerator.current_stream()))
        other.start()
        other.join()
        with torch.tpu.stream(None):
            assert torch.accelerator.current_stream() == stream
    assert torch.accelerator.current_stream().stream_id == 0
    assert seen[0].stream_id == 0


def test_streams_come_from_a_pool():
    ids = {torch.tpu.Stream().stream_id for _ in range(40)}
    assert 2 <= len(ids) <= 8
    assert 0 not in ids


def test_bad_streams():
    with pytest.raises(ValueError, match="pinned"):
        torch.tpu.Stream(pinned="gpu")
    with pytest.raises(ValueError, match="one TPU"):
        torch.tpu.Stream(device=1)
    with pytest.raises(RuntimeError, match="no queue"):
        torch.tpu.Stream(stream_id=12345).synchronize()
    with pytest.raises(NotImplementedError):
        torch.tpu.Event(interprocess=True)


def test_events():
    event = torch.tpu.Event()
    assert event.query(), "an event that was not recorded is complete"
    stream = torch.tpu.Stream()
    event.record(stream)
    event.synchronize()
    assert event.query()
    torch.accelerator.current_stream().wait_event(event)
    stream.wait_stream(torch.accelerator.current_stream())
    torch.accelerator.synchronize()


def test_instances():
    assert isinstance(torch.tpu.Stream(), torch.tpu.Stream)
    assert isinstance(torch.accelerator.current_stream(), torch.tpu.Stream)
    assert isinstance(torch.tpu.Event(), torch.tpu.Event)
    assert not isinstance(torch.tpu.Stream(), torch.tpu.Event)


def test_elapsed_time():
    start, end = torch.tpu.Event(enable_timing=True), torch.tpu.Event(enable_timing=True)
    start.record()
    end.record()
    end.synchronize()
    assert start.elapsed_time(end) >= 0
    assert end.elapsed_time(start) <= 0
    with pytest.raises(ValueError, match="recorded"):
        start.elapsed_time(torch.tpu.Event(enable_timing=True))
    untimed = torch.tpu.Event()
    untimed.record()
    untimed.synchronize()
    with pytest.raises(ValueError, match="enable_timing"):
        start.elapsed_time(untimed)


def test_generic_stream_and_event():
    stream = torch.Stream(device="tpu")
    event = torch.Event(device="tpu")
    stream.record_event(event)
    event.synchronize()
    assert stream.query()


def test_simulated_time_stands_still_without_work():
    before = torch.tpu.emulator.simulated_time()
    assert torch.tpu.emulator.simulated_time() == before
