// Package outside knows what commits name that is not in the object database:
// the objects of Git LFS, of which git has pointers, and the commits of
// submodules. It finds what commits add of them, and what of that is here. Only
// git-lfs moves objects, and only the user pushes submodules.
package outside
