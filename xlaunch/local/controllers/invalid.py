"""Refusals worded as Kubernetes words them: field errors, and the Status that a webhook's refusal becomes."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from xlaunch.local.kube import StatusError

_OMITTED = object()
_NAMES = {"FieldValueInvalid": "Invalid value", "InternalError": "Internal error"}

DNS_1035 = re.compile(r"[a-z]([-a-z0-9]*[a-z0-9])?")
DNS_1123_SUBDOMAIN = re.compile(r"[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*")
LABEL_VALUE = re.compile(r"(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?")
LABEL_BYTES = 63
SUBDOMAIN_BYTES = 253


@dataclass(frozen=True)
class FieldError:
    """One thing wrong with one field (apimachinery 0.37, pkg/util/validation/field/errors.go)."""

    type: str
    field: str
    detail: str
    value: Any = _OMITTED

    def body(self) -> str:
        """The error without its field."""
        name = _NAMES[self.type]
        if self.value is _OMITTED:
            return f"{name}: {self.detail}"
        return f"{name}: {json.dumps(self.value, separators=(',', ':'), ensure_ascii=False)}: {self.detail}"

    def __str__(self) -> str:
        return f"{self.field}: {self.body()}"


def invalid_value(field: str, value: Any, detail: str) -> FieldError:
    """The field has a value that is not allowed."""
    return FieldError("FieldValueInvalid", field, detail, value)


def immutable(field: str) -> FieldError:
    """A rule `self == oldSelf` of the CRD is broken; CEL's messages leave the value out."""
    return FieldError("FieldValueInvalid", field, "Value is immutable")


def internal(detail: str) -> FieldError:
    """What a webhook says with a plain error; upstream has no field for it and prints Go's nil path."""
    return FieldError("InternalError", "<nil>", detail)


def invalid(group: str, kind: str, name: str, errors: Sequence[FieldError], *, webhook: str = "") -> StatusError:
    """422 Invalid with `details.causes`; with `webhook`, as the API server passes on that webhook's refusal."""
    texts = list(dict.fromkeys(str(error) for error in errors))
    listed = texts[0] if len(texts) == 1 else f"[{', '.join(texts)}]"
    message = f'{kind}.{group} "{name}" is invalid: {listed}'
    causes = [{"reason": error.type, "message": error.body(), "field": error.field} for error in errors]
    details = {"name": name, "group": group, "kind": kind, "causes": causes}
    return StatusError(422, "Invalid", denied(webhook, message) if webhook else message, details)


def forbidden(webhook: str, message: str) -> StatusError:
    """403, the refusal of a webhook that gave a plain sentence."""
    return StatusError(403, "Forbidden", denied(webhook, message))


def denied(webhook: str, message: str) -> str:
    """The API server's preface to a webhook's refusal (apiserver, admission/plugin/webhook/errors)."""
    return f'admission webhook "{webhook}" denied the request: {message}'


def dns_1035_label(value: str) -> list[str]:
    """What is wrong with a DNS-1035 label (apimachinery, util/validation IsDNS1035Label)."""
    wrong = []
    if len(value) > LABEL_BYTES:
        wrong.append("must be no more than 63 characters")
    if not DNS_1035.fullmatch(value):
        wrong.append(
            "a DNS-1035 label must consist of lower case alphanumeric characters or '-', start with an alphabetic"
            " character, and end with an alphanumeric character (e.g. 'my-name',  or 'abc-123', regex used for"
            " validation is '[a-z]([-a-z0-9]*[a-z0-9])?')"
        )
    return wrong


def dns_1123_subdomain(value: str) -> list[str]:
    """What is wrong with a DNS-1123 subdomain (IsDNS1123Subdomain)."""
    wrong = []
    if len(value) > SUBDOMAIN_BYTES:
        wrong.append("must be no more than 253 characters")
    if not DNS_1123_SUBDOMAIN.fullmatch(value):
        wrong.append(
            "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must"
            " start and end with an alphanumeric character (e.g. 'example.com', regex used for validation is"
            " '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')"
        )
    return wrong


def label_value(value: str) -> list[str]:
    """What is wrong with the value of a label (IsValidLabelValue)."""
    wrong = []
    if len(value) > LABEL_BYTES:
        wrong.append("must be no more than 63 bytes")
    if not LABEL_VALUE.fullmatch(value):
        wrong.append(
            "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must"
            " start and end with an alphanumeric character (e.g. 'MyValue',  or 'my_value',  or '12345', regex used"
            " for validation is '(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')"
        )
    return wrong
