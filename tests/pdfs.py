"""PDFs of plain text, made by hand (ISO 32000-1)."""

from collections.abc import Mapping, Sequence


def _text(text: str) -> str:
    return "".join(f"\\{each}" if each in "()\\" else each for each in text)


def pdf_of(pages: Sequence[Sequence[str]], metadata: Mapping[str, str] | None = None) -> bytes:
    """Return a PDF with these lines on its pages, and this metadata."""
    page_references = " ".join(f"{5 + 2 * n} 0 R" for n in range(len(pages)))
    info = " ".join(f"/{name} ({_text(value)})" for name, value in (metadata or {}).items())
    objects = [
        "<< /Type /Catalog /Pages 2 0 R >>",
        f"<< /Type /Pages /Kids [{page_references}] /Count {len(pages)} >>",
        "<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>",
        f"<< {info} >>",
    ]
    for n, lines in enumerate(pages):
        operators = " ".join(f"({_text(line)}) Tj 0 -16 Td" for line in lines)
        stream = f"BT /F1 12 Tf 40 750 Td {operators} ET"
        objects.append(
            f"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Contents {6 + 2 * n} 0 R"
            " /Resources << /Font << /F1 3 0 R >> >> >>"
        )
        objects.append(f"<< /Length {len(stream)} >>\nstream\n{stream}\nendstream")
    body, offsets = b"%PDF-1.4\n", []
    for n, each in enumerate(objects, 1):
        offsets.append(len(body))
        body += f"{n} 0 obj\n{each}\nendobj\n".encode("latin-1")
    table = "".join(f"{offset:010} 00000 n \n" for offset in offsets)
    size = len(objects) + 1
    trailer = f"trailer << /Size {size} /Root 1 0 R /Info 4 0 R >>\nstartxref\n{len(body)}\n%%EOF"
    return body + f"xref\n0 {size}\n0000000000 65535 f \n{table}{trailer}".encode("latin-1")
