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
// before to find the lines that were pushed out. Lines that come back (after
// scrolling up or closing a menu) are not written twice.
//
// # The size of the screen
//
// The bytes don't tell the terminal's size, unless a log begins with
//
//	CSI 8 ; rows ; columns t
//
// xterm's request for that size. Otherwise the screen has 24 rows and 80
// columns and grows when the cursor is placed beyond them.
//
// Where terminals differ, this package follows tmux, the source of the bytes.
package vt
