"""VERA over HTTP (`vera serve`): theses, questions and reports in, jobs and signed verdicts out.

A job is a process, `vera verify`, `vera run` or `vera check`, on this machine or at a worker of a cluster,
with a session under the base of the token that asked. What is known of a job lies in files, so a server that
starts again knows all of them.

Whoever asks is not trusted, with a token too: a request chooses among folders and limits that the person who
started the service allowed, every read, wait and list has a bound, and what one token made no other sees.
"""
