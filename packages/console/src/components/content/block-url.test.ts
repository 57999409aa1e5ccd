import { describe, expect, it } from 'vitest';
import { safeMediaType } from './block-url.ts';

describe('the type of a picture or a recording', () => {
  it.each(['image/png', 'IMAGE/GIF', 'audio/mpeg; codecs=mp3'])('is kept: %s', (type) => {
    expect(safeMediaType(type)).toBe(type);
  });

  it.each(['text/html', 'application/xhtml+xml', '', ' image/png', 'x/image/png'])(
    'is none if the browser would take it for something else: "%s"',
    (type) => {
      expect(safeMediaType(type)).toBe('');
    },
  );
});
