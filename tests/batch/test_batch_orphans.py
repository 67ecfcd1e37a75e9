"""What many sessions with boxes leave behind, some of them killed and some out of time: nothing."""

from pathlib import Path

import pytest

from support.box_image import image
from support.leftovers import left_in, run_mixed

COUNT, SLOTS = 40, 4
OWN_DESCRIPTORS = 40
"""More than a batch and its fork server need, with pipes of a few attempts; far below one a session."""


@pytest.mark.needs("docker")
@pytest.mark.timeout(600)
def test_forty_sessions_in_boxes_leave_no_container_process_descriptor_or_temporary_file(
    tmp_path: Path,
) -> None:
    image()
    went = run_mixed(tmp_path, COUNT, SLOTS, "docker")
    assert went.states == {"done": COUNT}, went.said
    assert went.attempts == COUNT + COUNT // 10  # one in ten was killed, and begun again
    assert went.exit_codes == {3: COUNT - COUNT // 10, 6: COUNT // 10}  # one in ten ran out of time
    assert max(went.boxes) > 0
    later = went.descriptors[len(went.descriptors) // 2 :]
    assert max(later) <= OWN_DESCRIPTORS
    assert left_in(tmp_path).nothing(), left_in(tmp_path)
