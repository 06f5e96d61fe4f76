"""Submissions that cheat, mostly on an untouched notebook: none gains a point, each is named."""

from hostile import BLANK, FULL, NOTHING, RIGHT, beginning, changed

CLASS = {
    # The code that runs cells, and what it reads.
    "kernel": (
        beginning(
            "from IPython.core.interactiveshell import InteractiveShell\nip = get_ipython()\n"
            "class Well:\n    success, result = True, 1.0\n"
            "    error_before_exec = error_in_exec = None\n"
            "ip.kernel = Well()\n"
            "ip.kernel.do_execute = ip.kernel.do_shell = lambda *a, **k: {'status': 'ok'}\n"
            "for name in ('run_cell', 'run_cell_async', 'run_code', 'run_ast_nodes'):\n"
            "    setattr(InteractiveShell, name, lambda *a, **k: Well())"
        ),
        NOTHING,
        "suspicious",
    ),
    "rewrites trees": (
        beginning(
            "import ast\nclass Rewriter(ast.NodeTransformer):\n"
            "    def visit_Expr(self, node): return ast.Pass()\n"
            "    visit_Assert = visit_Raise = visit_Expr\n"
            "get_ipython().ast_transformers.append(Rewriter())"
        ),
        NOTHING,
        "suspicious",
    ),
    "rewrites lines": (
        beginning(
            "ip = get_ipython()\nip.transform_cell = lambda cell: '1.0'\n"
            "for kind in ('post', 'cleanup'):\n"
            "    getattr(ip, f'input_transformers_{kind}').append(lambda lines: ['1.0\\n'])"
        ),
        NOTHING,
        "suspicious",
    ),
    "check": (
        beginning(
            "import grader, sys, types\ngrader.check = print\n"
            "fake = types.ModuleType('grader')\nfake.check = fake.ready = print\n"
            "sys.modules['grader'] = sys.modules['grader.checks'] = fake"
        ),
        NOTHING,
        "suspicious",
    ),
    "code of check": (
        beginning("from grader import check\ncheck.__code__ = (lambda *a, **k: None).__code__"),
        NOTHING,
        "suspicious",
    ),
    "finder": (
        beginning(
            "import importlib.abc, importlib.machinery, sys\n"
            "class Loader(importlib.abc.Loader):\n"
            "    def exec_module(self, module): module.check = module.ready = print\n"
            "class Finder:\n    def find_spec(self, name, path=None, target=None):\n"
            "        return importlib.machinery.ModuleSpec(name, Loader())\n"
            "sys.meta_path.insert(0, Finder())\nsys.modules.pop('grader')"
        ),
        NOTHING,
        "suspicious",
    ),
    "import": (
        beginning(
            "import builtins\nold = builtins.__import__\ndef new(name, *more, **ways):\n"
            "    module = old(name, *more, **ways)\n"
            "    if name.startswith('grader'): module.check = print\n    return module\n"
            "builtins.__import__ = new"
        ),
        NOTHING,
        "suspicious",
    ),
    "all tests": (
        beginning(
            "import unittest\nimport numpy.testing as tests\nfor name in dir(tests):\n"
            "    if name.startswith('assert'): setattr(tests, name, lambda *a, **k: None)\n"
            "for name in dir(unittest.TestCase):\n    if name.startswith('assert'):\n"
            "        setattr(unittest.TestCase, name, lambda *a, **k: None)"
        ),
        NOTHING,
        "suspicious",
    ),
    "judges": (
        beginning(
            "import gc, types\nfor one in gc.get_objects():\n"
            "    if isinstance(one, types.FunctionType):\n"
            "        if one.__name__ in ('judge', 'agree', 'agrees', 'check'):\n"
            "            one.__code__ = (lambda *a, **k: None).__code__"
        ),
        NOTHING,
        "suspicious",
    ),
    "what is what": (
        beginning(
            "import collections.abc, numbers\nclass All(type):\n"
            "    def __instancecheck__(cls, one): return True\n"
            "for kind in (numbers.Number, collections.abc.Mapping): kind.register(object)\n"
            "class Any(metaclass=All): pass\nbool = int = float = Any"
        ),
        NOTHING,
        "suspicious",
    ),
    "names what is ours": (
        beginning(
            "import grader.engine.far.values\nclass Ours:\n    is_far, number_there = True, 0\n"
            "    def __deepcopy__(self, memo): return self\n"
            "rmsnorm_forward = half_rms = normalize_vjp = rmsnorm_backward = Ours()"
        ),
        NOTHING,
        "suspicious",
    ),
    "waits for a restart": (
        beginning(
            "import os\nfor name in ('numpy', 'grader', 'sitecustomize', 'ipython_config'):\n"
            "    with open(f'{name}.py', 'w') as file: file.write('1 / 0')\n"
            "os.makedirs('.ipython/profile_default/startup')\n"
            "with open('.ipython/profile_default/startup/0.py', 'w') as file: file.write('1 / 0')\n"
            "os._exit(0)",
            RIGHT,
        ),
        FULL,
        "suspicious",
    ),
    # What compares, and where its answers might be.
    "comparisons": (
        beginning(
            "import builtins\nimport numpy as np\nnp.allclose = np.isclose = lambda *a, **k: True\n"
            "np.testing.assert_allclose = lambda *a, **k: None\n"
            "builtins.AssertionError = type('A', (Exception,), {})\n"
            "builtins.isinstance = lambda *a: True"
        ),
        NOTHING,
        "suspicious",
    ),
    "later": (
        beginning(
            "import threading, time\nimport numpy as np\ndef later():\n    while True:\n"
            "        np.allclose = lambda *a, **k: True; time.sleep(0.01)\n"
            "threading.Thread(target=later, daemon=True).start()"
        ),
        NOTHING,
        "suspicious",
    ),
    "equals all": (
        changed(
            lambda cells, cell: cell("rmsnorm_forward").update(
                source="class A(np.ndarray):\n    def __eq__(self, o): return True\n"
                "    def __array_function__(self, *a): return True\n"
                "def rmsnorm_forward(x, weight, eps=1e-5):\n    return x.view(A), None"
            ),
            BLANK,
        ),
        NOTHING,
        "suspicious: rmsnorm_forward",
    ),
    "zeroes": (
        changed(
            lambda cells, cell: cell("rmsnorm_forward").update(
                source="def rmsnorm_forward(x, weight, eps=1e-5):\n    x[...] = 0\n"
                "    weight[...] = 0\n    return x, None"
            ),
            BLANK,
        ),
        NOTHING,
        "no points",
    ),
    "the shell": (
        beginning(
            "ip = get_ipython()\nip.showtraceback = lambda *a, **k: None\n"
            "ip.run_cell = lambda *a, **k: None\nip.input_transformers_post.append(print)\n"
            "ip.events.register('pre_run_cell', print)"
        ),
        NOTHING,
        "suspicious",
    ),
    "the far side": (
        beginning(
            "import grader\nimport grader.engine.far.notebook as far\n"
            "grader.check = lambda *a, **k: None\nfar.Notebook._call = lambda *a: {'value': 1.0}"
        ),
        NOTHING,
        "suspicious",
    ),
    "the library": (
        changed(
            lambda cells, cell: cell("rmsnorm_forward").update(
                source="from transformer_block.rmsnorm import rmsnorm_forward"
            ),
            BLANK,
        ),
        NOTHING,
        "no points",
    ),
    "looks round": (
        changed(
            lambda cells, cell: cell("half_rms").update(
                source="import gc, glob, sys\ndef half_rms(eps):\n"
                "    found = glob.glob('/**/solutions*', recursive=True)\n"
                "    frame = sys._getframe().f_back\n"
                "    return len(found) or frame.f_locals['want']"
            ),
            BLANK,
        ),
        NOTHING,
        "suspicious: half_rms",
    ),
}
