package redact

// A user's pattern may match anything: also what says in a record of a
// transcript who spoke, in which order, and which result belongs to which call.
// Without these nobody can go on with the conversation, so they stay. What
// tools were given and have returned has none of them.

// A Structure says of a member of records, by its name, what it is to the
// conversation.
type Structure func(name string) Part

// A Part is what a member of records is to a conversation.
type Part int

// Parts. What stands in a frame, and only there, may be structural.
const (
	Content    Part = iota
	Frame           // it holds such members: an object, or a list of objects
	Structural      // it, or all elements of it, stay
)
