// Package screen turns the bytes that programs sent to a terminal into the text that a person saw
// there, in order. It is a terminal emulator that writes down whatever leaves its screen.
//
// # What is written
//
// A line is written when it scrolls off the screen or the screen is cleared; what is visible at the
// end comes last. Text that is overwritten in place, such as a progress bar, counts in its last
// state. A line that the terminal wrapped is one line again, and white space at its end is gone.
// The only control character left is the line feed.
//
// Full-screen programs draw on the alternate screen. Some scroll there; most repaint the page with
// every line a bit higher. A repainted page is compared with the one before, and lines that were
// pushed out count as scrolled off. Lines that come back (somebody scrolls up, a menu closes) are
// not written twice.
//
// # The size of the screen
//
// The bytes don't tell how large the terminal was, unless a log begins with
//
//	CSI 8 ; rows ; columns t
//
// the request to xterm to take that size. Otherwise the screen has 24 rows and 80 columns, and
// grows when the cursor is placed beyond them.
//
// Where terminals differ, this package follows tmux, which the bytes come from.
package screen
