"""For the site: its parts in the order in which people need them, not in that of the alphabet."""

ORDER = ("Documentation", "Tutorials", "How to", "Examples", "Reference", "Background", "Results")


def on_nav(nav, config, files):
    """Called by MkDocs; what is not in the list comes last."""

    def place(item):
        page = getattr(item, "file", None)  # the first page has no title yet
        name = "Documentation" if page is not None else item.title
        return ORDER.index(name) if name in ORDER else len(ORDER)

    nav.items.sort(key=place)
    return nav
