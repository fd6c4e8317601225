package figure

import (
	"image"
	"image/color"
	"slices"
)

// paletted draws im with its 256 commonest colours, and each other colour as the
// nearest of them. A figure has a dozen colours and thousands of shades at the edges of
// its lines and letters, which nobody can tell from their neighbours; a byte for a dot
// in place of three halves the files, which are kept in git.
func paletted(im image.Image) *image.Paletted {
	b := im.Bounds()
	count := map[color.RGBA]int{}
	for y := b.Min.Y; y < b.Max.Y; y++ {
		for x := b.Min.X; x < b.Max.X; x++ {
			count[rgba(im, x, y)]++
		}
	}
	colours := make([]color.RGBA, 0, len(count))
	for c := range count {
		colours = append(colours, c)
	}
	slices.SortFunc(colours, func(p, q color.RGBA) int {
		if d := count[q] - count[p]; d != 0 {
			return d
		}
		return int(value(p)) - int(value(q)) // the same file every time
	})
	if len(colours) > 256 {
		colours = colours[:256]
	}
	palette := make(color.Palette, len(colours))
	index := make(map[color.RGBA]uint8, len(count))
	for i, c := range colours {
		palette[i], index[c] = c, uint8(i)
	}
	out := image.NewPaletted(b, palette)
	for y := b.Min.Y; y < b.Max.Y; y++ {
		for x := b.Min.X; x < b.Max.X; x++ {
			c := rgba(im, x, y)
			i, ok := index[c]
			if !ok {
				i = uint8(palette.Index(c))
				index[c] = i
			}
			out.SetColorIndex(x, y, i)
		}
	}
	return out
}

func rgba(im image.Image, x, y int) color.RGBA {
	return color.RGBAModel.Convert(im.At(x, y)).(color.RGBA)
}

// value orders colours.
func value(c color.RGBA) uint32 {
	return uint32(c.R)<<16 | uint32(c.G)<<8 | uint32(c.B)
}
