# SPDX-License-Identifier: GPL-2.0-or-later
"""The page for a browser, as a file."""
import base64
import gzip
import json
import re

from lib import read


def parts_of(path):
    """The JSON of each part, by its name."""
    found = re.findall(rb'<script type="application/gzip" data-part="(\w+)" data-bytes="(\d+)">([A-Za-z0-9+/=]*)</script>\n',
                       read(path, "rb"))
    parts = {}
    for name, size_bytes, content in found:
        text = gzip.decompress(base64.b64decode(content, validate=True))
        assert len(text) == int(size_bytes), f"{name}: {len(text)} bytes, not {size_bytes}"
        parts[name.decode()] = json.loads(text)
    return parts
