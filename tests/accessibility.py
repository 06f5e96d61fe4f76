"""The accessibility checker axe-core, run inside a page."""

import browser

AXE = browser.ROOT / "node_modules/axe-core/axe.min.js"


def violations(page):
    """List what axe-core objects to on a page, best practices included: rule, advice, element."""
    if not AXE.exists():
        raise FileNotFoundError("axe-core is not here. Run: make node_modules/installed")
    page.evaluate(AXE.read_text(encoding="utf-8"))
    found = page.evaluate("axe.run(document, {resultTypes: ['violations']})")["violations"]
    return [
        f"{violation['id']}: {violation['help']}: {node['html'][:200]} {node['failureSummary']}"
        for violation in found
        for node in violation["nodes"]
    ]
