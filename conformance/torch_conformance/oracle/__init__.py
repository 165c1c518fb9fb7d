"""What is right, and how right it must be: references in float64, and bounds by rule."""
