"""What VERA can prove: objects, the pure reduction to a result, the signed envelope, and its replay."""
