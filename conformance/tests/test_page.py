"""The report page in a browser, with as many cases as a full run has."""

import re
import shutil
import subprocess

import pytest
from torch_conformance.execute import Outcome
from torch_conformance.report.page import write_page

BROWSER = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
pytestmark = pytest.mark.skipif(BROWSER is None, reason="no Chromium: apt-get install chromium")

CASES = 100_000
SUMMARY = {"device": "mock", "level": "full", "modes": ["default"], "overloads_reached": 1, "overloads_total": 676}
SUMMARY |= {"core_reached": 1, "core_total": 193}


@pytest.fixture(scope="module")
def page(tmp_path_factory):
    outcomes = [
        Outcome(
            f"op.op{n % 500}.out.float32.value.{n}", "default", "fail" if n % 100 == 7 else "pass", n % 10 / 10, 0.001
        )
        for n in range(CASES)
    ]
    outcomes[7].message, outcomes[7].cause = "got <1>, expected 2", "value"
    path = tmp_path_factory.mktemp("page") / "report.html"
    write_page(outcomes, SUMMARY, {"aten::add.Tensor"}, path)
    return path


def shown(page, link):
    """The page's text once it has drawn itself."""
    command = [BROWSER, "--headless", "--no-sandbox", "--disable-gpu", "--virtual-time-budget=20000", "--dump-dom"]
    done = subprocess.run([*command, f"file://{page}{link}"], check=True, capture_output=True, text=True, timeout=180)
    assert 'data-ready="1"' in done.stdout, done.stderr[-500:]
    return done.stdout


def rows(text):
    return re.findall(r'<div class="row".*?</div>', text)


def test_all_cases_are_there_and_few_are_drawn(page):
    text = shown(page, "")
    assert f">{CASES} of {CASES}<" in text
    assert 5 < len(rows(text)) < 200


def test_filters_by_status_and_operator(page):
    text = shown(page, "#status=fail&op=op7")
    assert ">200 of 100000<" in text
    assert all("op.op7.out" in row for row in rows(text))
    assert "got &lt;1&gt;, expected 2" in text


def test_search_finds_one_case(page):
    text = shown(page, "#search=value.99999")
    assert ">1 of 100000<" in text
    assert len(rows(text)) == 1


def test_failures_are_grouped_and_operators_mapped(page):
    text = shown(page, "#status=crash")
    assert "fail value" in text
    assert 'title="add.Tensor"' in text
    assert ">0 of 100000<" in text
