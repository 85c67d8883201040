"""The inspector page, served beside the API it reads, under a policy that lets nothing else run."""

from __future__ import annotations

from importlib.resources import files

from fastapi import APIRouter
from fastapi.responses import RedirectResponse, Response

router = APIRouter(include_in_schema=False)

_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self'; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
_HEADERS = {"Content-Security-Policy": _POLICY, "X-Frame-Options": "DENY", "Cross-Origin-Opener-Policy": "same-origin"}


def _page(name: str, media_type: str) -> Response:
    content = files("llmslim_memory.server").joinpath("page", name).read_bytes()
    return Response(content, media_type=media_type, headers=_HEADERS)


@router.get("/")
@router.get("/ui")
async def to_page() -> RedirectResponse:
    """The page's own folder, so that its files are found under any prefix."""
    return RedirectResponse("ui/")


@router.get("/ui/")
async def page() -> Response:
    """The page."""
    return _page("index.html", "text/html; charset=utf-8")


@router.get("/ui/app.js")
async def script() -> Response:
    """Its script."""
    return _page("app.js", "text/javascript; charset=utf-8")


@router.get("/ui/icon.svg")
async def icon() -> Response:
    """Its icon."""
    return _page("icon.svg", "image/svg+xml")


@router.get("/ui/style.css")
async def style() -> Response:
    """Its looks."""
    return _page("style.css", "text/css; charset=utf-8")
