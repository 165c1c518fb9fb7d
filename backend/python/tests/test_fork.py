def test_forked_child_gets_an_error(run_python):
    done = run_python("""
        import os, signal, torch
        torch.accelerator.synchronize()
        torch.UntypedStorage(100, device="tpu")
        child = os.fork()
        if child == 0:
            signal.alarm(60)
            assert torch.tpu._is_in_bad_fork()
            torch.manual_seed(1)  # PyTorch asks first; must not fail
            for use in (lambda: torch.UntypedStorage(100, device="tpu"),
                        torch.accelerator.synchronize,
                        lambda: torch.Stream(device="tpu")):
                try:
                    use()
                except RuntimeError as error:
                    assert "spawn" in str(error), error
                else:
                    os._exit(1)
            os._exit(0)
        _, status = os.waitpid(child, 0)
        print(os.waitstatus_to_exitcode(status), torch.tpu._is_in_bad_fork())
    """)
    assert done.stdout.split() == ["0", "False"]


def test_fork_before_first_use_is_fine(run_python):
    done = run_python("""
        import os, torch
        child = os.fork()
        if child == 0:
            os._exit(0 if torch.UntypedStorage(100, device="tpu").nbytes() == 100 else 1)
        _, status = os.waitpid(child, 0)
        print(os.waitstatus_to_exitcode(status))
    """)
    assert done.stdout.strip() == "0"


def test_forked_loader_workers(run_python):
    done = run_python("""
        import torch
        torch.accelerator.synchronize()
        torch.UntypedStorage(100, device="tpu")
        data = torch.utils.data.TensorDataset(torch.arange(8.0))
        loader = torch.utils.data.DataLoader(
            data, batch_size=4, num_workers=2, pin_memory=True, multiprocessing_context="fork")
        print([batch.sum().item() for (batch,) in loader])
    """)
    assert done.stdout.strip() == "[6.0, 22.0]"
