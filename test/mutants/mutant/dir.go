package mutant

// dir is where the file is that says which mutant is on. The program puts another file in place of this one.
const dir = ""
