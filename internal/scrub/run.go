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
	enough := letters(least)
	first := min(enough-2, wrapped) // letters that such a part begins with: it ends with two signs at most
	for i := 0; ; {
		last := i + first - 1
		if last >= len(text) {
			return all
		}
		if !inBase64[text[last]] { // none begins before
			i = last + 1
			continue
		}
		for from := i; last >= from && inBase64[text[last]]; last-- {
			i = last
		}
		from, to := stretch(text, i, wrapped, &inBase64)
		for i = to; to < len(text) && text[to] == '=' && to < i+2; {
			to++
		}
		if to-from < enough {
			continue
		}
		all = append(all, run{Span: Span{from, to}})
		all = append(all, hexRuns(text, Span{from, i}, least, wrapped)...)
	}
}

// hexRuns returns a span's hexadecimal parts of at least least bytes. If they
// have several lines, these have at least wrapped digits.
func hexRuns(text []byte, in Span, least, wrapped int) (all []run) {
	for at := in.From; at < in.To; {
		var part Span
		part.From, part.To = stretch(text[:in.To], at, wrapped, &inHex)
		if part.To-part.From >= least*2 {
			all = append(all, run{Span: part, hex: true})
		}
		at = part.To
	}
	return all
}

// stretch returns the next run of such letters, with breaks between long lines.
func stretch(text []byte, i, wrapped int, is *[256]bool) (from, to int) {
	for i < len(text) && !is[text[i]] {
		i++
	}
	from = i
	for line := i; i < len(text); i++ {
		if is[text[i]] {
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
		if next >= len(text) || !is[text[next]] {
			break
		}
		i, line = next, next
	}
	return from, i
}

// decodings passes what a run may mean, at any offset of its beginning, to f,
// for which each is valid until the next.
func (r run) decodings(text []byte, buffers *[2][]byte, f func(decoded []byte)) {
	letters := buffers[0][:0]
	for _, c := range text[r.From:r.To] {
		if letter[c] != none {
			letters = append(letters, c)
		}
	}
	offsets, decode := min(4, len(letters)), fromBase64
	if r.hex {
		offsets, decode = min(2, len(letters)-1), fromHex
	}
	out := buffers[1]
	for off := range offsets {
		out = decode(out[:0], letters[off:])
		f(out)
	}
	buffers[0], buffers[1] = letters, out
}

// fromHex appends what hexadecimal digits mean.
func fromHex(out, digits []byte) []byte {
	for i := 0; i+1 < len(digits); i += 2 {
		out = append(out, byte(digit(digits[i])<<4|digit(digits[i+1])))
	}
	return out
}

// fromBase64 appends what letters mean.
func fromBase64(out, letters []byte) []byte {
	bits, n := uint(0), 0
	for _, c := range letters {
		bits, n = bits<<6|uint(letter[c]), n+6
		if n >= 8 {
			n -= 8
			out = append(out, byte(bits>>n))
		}
	}
	return out
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

// The letters that runs are made of.
var (
	inBase64 = having(func(c byte) bool { return letter[c] != none })
	inHex    = having(func(c byte) bool { return digit(c) >= 0 })
)

func having(is func(c byte) bool) (table [256]bool) {
	for c := range table {
		table[c] = is(byte(c))
	}
	return table
}
