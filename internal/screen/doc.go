// Package screen turns the bytes that programs sent to a terminal into the text that a person saw there, in order:
// a terminal emulator that writes down what leaves its screen.
//
// # What is written
//
// A line is written when it scrolls off the screen, when the screen is cleared, and what is visible at the end comes last.
// What is overwritten in place, such as a progress bar, counts as it was last. A line that the terminal wrapped is one line again,
// and white space at its end is gone. No control character but the line feed survives.
//
// Full-screen programs draw on the alternate screen. Some scroll there; most paint the same page again with
// every line a bit higher. A page that was painted anew is compared with the one before, and lines
// that were pushed out count as scrolled off. Lines that come back (somebody
// scrolls up, a menu closes) are not written twice.
//
// # The size of the screen
//
// The bytes don't tell how large the terminal was. A log that begins with
//
//	CSI 8 ; rows ; columns t
//
// has said it; it is the request to xterm to be of that size. Without it the screen has 24 rows and 80 columns, and
// grows when the cursor is placed beyond them.
//
// Where terminals differ, this is tmux: it is where the bytes come from.
package screen
