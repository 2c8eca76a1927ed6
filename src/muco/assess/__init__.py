"""What a release protects and what it is still worth: measures of an original, a release and a policy."""
