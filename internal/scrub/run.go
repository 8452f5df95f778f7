package scrub

// A run is a part of a text that may be base64 or hexadecimal.
type run struct {
	Span
	hex bool
}

// wrapped is the least length of a base64 line that continues in the next.
const wrapped = 32

// runs returns the parts of a text that may encode at least least bytes.
func runs(text []byte, least int) (all []run) {
	for i := 0; i < len(text); {
		from, to := stretch(text, i, wrapped, func(c byte) bool { return letter[c] != none })
		for i = to; to < len(text) && text[to] == '=' && to < i+2; {
			to++
		}
		if to-from < (least*4+2)/3 {
			continue
		}
		all = append(all, run{Span: Span{from, to}})
		all = append(all, hexRuns(text, Span{from, i}, least, wrapped)...)
	}
	return all
}

// hexRuns returns a span's hexadecimal parts of at least least bytes. If they
// have several lines, these have at least wrapped digits.
func hexRuns(text []byte, in Span, least, wrapped int) (all []run) {
	for at := in.From; at < in.To; {
		var part Span
		part.From, part.To = stretch(text[:in.To], at, wrapped, func(c byte) bool { return digit(c) >= 0 })
		if part.To-part.From >= least*2 {
			all = append(all, run{Span: part, hex: true})
		}
		at = part.To
	}
	return all
}

// stretch returns the next run of such letters, with breaks between long lines.
func stretch(text []byte, i, wrapped int, is func(byte) bool) (from, to int) {
	for i < len(text) && !is(text[i]) {
		i++
	}
	from = i
	for line := i; i < len(text); i++ {
		if is(text[i]) {
			continue
		}
		next := i
		if text[next] == '\r' {
			next++
		}
		if i-line < wrapped || next >= len(text) || text[next] != '\n' {
			break
		}
		for next++; next < len(text) && (text[next] == ' ' || text[next] == '\t'); next++ {
			// an indented block
		}
		if next >= len(text) || !is(text[next]) {
			break
		}
		i, line = next, next
	}
	return from, i
}

// decodings returns what a run may mean, at any offset of its beginning.
func (r run) decodings(text []byte) (all [][]byte) {
	letters := make([]byte, 0, r.To-r.From)
	for _, c := range text[r.From:r.To] {
		if letter[c] != none {
			letters = append(letters, c)
		}
	}
	if r.hex {
		for off := range 2 {
			if len(letters) < off+2 {
				break
			}
			out := make([]byte, 0, len(letters)/2)
			for i := off; i+1 < len(letters); i += 2 {
				out = append(out, byte(digit(letters[i])<<4|digit(letters[i+1])))
			}
			all = append(all, out)
		}
		return all
	}
	for off := range min(4, len(letters)) {
		out := make([]byte, 0, len(letters)*3/4)
		bits, n := uint(0), 0
		for _, c := range letters[off:] {
			bits, n = bits<<6|uint(letter[c]), n+6
			if n >= 8 {
				n -= 8
				out = append(out, byte(bits>>n))
			}
		}
		all = append(all, out)
	}
	return all
}

// none marks other bytes in letter.
const none = 0xff

// letter maps base64 letters, of both alphabets, to values.
var letter = func() (l [256]byte) {
	for i := range l {
		l[i] = none
	}
	for i, c := range []byte("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/") {
		l[c] = byte(i)
	}
	l['-'], l['_'] = 62, 63
	return l
}()
