def pytest_addoption(parser):
    parser.addoption("--program", help="the command line, for comparisons")
