"""What the doctor looks at, one function for each thing: a case in, findings out."""
