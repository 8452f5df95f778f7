// Package vt turns the bytes that programs sent to a terminal into the text
// that a person saw, in order. It emulates a terminal and writes what leaves
// the screen.
//
// # What is written
//
// A line is written when it scrolls off the screen or the screen is cleared;
// what is visible at the end comes last. Overwritten text, such as a progress
// bar, counts in its last state. Lines that the terminal wrapped are joined,
// and white space at their ends and all control characters but line feeds are
// removed.
//
// Full-screen programs draw on the alternate screen. Some scroll; most repaint
// the page with every line a bit higher. Each page is compared with the one
// before to find the lines that were pushed out. What scrolling back pushes out
// at the bottom is written, too, with all above it. Lines that come back (after
// scrolling up or closing a menu) are not written twice.
//
// # The size of the screen
//
// The bytes don't tell the terminal's size, unless a log begins with
//
//	CSI 8 ; rows ; columns t
//	CSI ? 2027 h              of a terminal that joins runes as tmux does from 3.6 on
//	CSI ? 1049 h              on the alternate screen
//	CSI H
//
// the first being xterm's request for that size. A later one of these begins
// another log in the same file. Without it the screen has 24 rows and 80 columns
// and grows when the cursor is placed beyond them. If it was told, it grows on
// the alternate screen, when something is painted there: the terminal was
// enlarged. The first line of a file by script tells it, too.
//
// Where terminals differ, this package follows tmux, the source of the bytes.
// From 3.6 on a variation selector makes an emoji wide, and a colour of skin
// adds nothing to its width.
package vt
