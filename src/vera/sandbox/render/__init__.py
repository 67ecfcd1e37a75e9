"""`fetch --render`: a page shown by a headless Chromium in its own box, and its DOM taken.

The box has the same way out as the lane's: a tunnel under the run's egress policy, each connection judged,
dialled at a checked address and recorded. It holds one browser, one page and an empty work folder, and ends
when the DOM is out.
"""
