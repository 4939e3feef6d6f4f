import headlight as hl
import pytest


def pytest_addoption(parser):
    parser.addoption("--program", help="the command line, for comparisons")


@pytest.fixture(scope="session")
def program(request):
    """The command line, if it is built: `--program PATH`."""
    path = request.config.getoption("--program")
    if path is None:
        pytest.skip("no --program")
    return path


@pytest.fixture(scope="session")
def run():
    return hl.train("notebook", seed=3)
