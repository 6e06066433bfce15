"""Reading promotion.yml beside a dataset, and what of the dataset is not what was promoted."""

from __future__ import annotations

from pathlib import Path

from tamesu.base.errors import EvidenceError
from tamesu.base.model.finding import Finding
from tamesu.base.model.manifest import Dataset
from tamesu.base.model.promotion import PromotionRecord
from tamesu.core.promotion import ITEMS, PROMOTION
from tamesu.core.promotion_check import Alteration, alterations
from tamesu.edge.documents.dataset_reader import read_dataset
from tamesu.edge.documents.reading import Reading
from tamesu.edge.store.records import read_record

_RULE = "dataset/not-as-promoted"
_FIX = "put the file back, promote again, or delete promotion.yml, which is not true of this dataset any more"


def promotion_findings(reading: Reading, manifest: Path, dataset: Dataset) -> tuple[Finding, ...]:
    """Return an error for everything that a promoted dataset is not any more; none of a dataset made otherwise."""
    path = manifest.with_name(PROMOTION)
    if not path.is_file():
        return ()
    folder = reading.relative(manifest.parent)
    try:
        found = alterations(read_record(path, PromotionRecord), dataset, ITEMS)
        return tuple(Finding(f"{folder}/{one.file}", 1, 1, "error", _RULE, one.line, _FIX) for one in found)
    except EvidenceError as error:
        said = str(error).removeprefix(f"{path}: ").partition("; ")[0]
        return (Finding(f"{folder}/{PROMOTION}", 1, 1, "error", _RULE, said, "restore it from version control"),)


def altered_since(root: Path, manifest: Path, record: PromotionRecord) -> tuple[Alteration, ...]:
    """Return what of a dataset on disk is not what was promoted; one that cannot be read is altered."""
    reading = Reading(root)
    dataset = read_dataset(reading, manifest)
    if dataset is None:
        first = next(iter(reading.told()), None)
        return (Alteration(manifest.name, "is no dataset" if first is None else first.message),)
    return tuple(alterations(record, dataset, ITEMS))
