// Package powers tries the table of powers, each cell as the actor whose it is.
package powers
