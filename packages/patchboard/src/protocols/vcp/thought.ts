import type { Scan } from './scan.ts';
import { PROSE, type OpenThought } from './state.ts';

/** Maximum length of a tag's attributes. */
const MAX_ATTRIBUTES = 200;
const TAG = new RegExp(`<(/?)(think(?:ing)?)(?:[\\s/][^<>]{0,${MAX_ATTRIBUTES}})?>`, 'iy');
const HALF_TAG = new RegExp(
  `</?(?:t|th|thi|thin|think|thinki|thinkin|thinking|think(?:ing)?[\\s/][^<>]{0,${MAX_ATTRIBUTES}})?$`,
  'iy',
);
const LONGEST_TAG = '</thinking'.length + MAX_ATTRIBUTES + 2;

const SLASH = 0x2f;
const SMALL_T = 0x74;
const LARGE_T = 0x54;

interface ThoughtTag {
  readonly name: 'think' | 'thinking';
  readonly length: number;
  readonly isClosing: boolean;
  /** `<think/>` opens nothing. */
  readonly isEmpty: boolean;
}

/** Returns the thought tag at `at`, in any case and with any attributes; null if there is none. */
export function tagAt(text: string, at: number): ThoughtTag | null {
  const next = text.charCodeAt(at + 1);
  if (next !== SLASH && next !== SMALL_T && next !== LARGE_T) return null;
  TAG.lastIndex = at;
  const found = TAG.exec(text);
  if (found === null) return null;
  const [tag, slash, name = ''] = found;
  return {
    name: name.toLowerCase() === 'think' ? 'think' : 'thinking',
    length: tag.length,
    isClosing: slash === '/',
    isEmpty: tag.endsWith('/>'),
  };
}

/** Whether the text ends within a possible thought tag. */
export function isCutTag(text: string, at: number): boolean {
  if (text.length - at >= LONGEST_TAG) return false;
  HALF_TAG.lastIndex = at;
  return HALF_TAG.test(text);
}

/** A thought ends when all opened tags of each name are closed. */
export function scanThought(scan: Scan, place: OpenThought): boolean {
  const { text, find } = scan;
  const open = { think: place.think, thinking: place.thinking };
  for (;;) {
    const at = find.lessThan.next(scan.at);
    scan.at = Math.min(at, text.length);
    const tag = at === Infinity ? null : tagAt(text, at);
    if (tag === null) {
      if (at === Infinity || (!scan.isLast && isCutTag(text, at))) {
        scan.place = { kind: 'thought', ...open };
        return false;
      }
      scan.at += 1;
      continue;
    }
    scan.at += tag.length;
    if (tag.isClosing) open[tag.name] = Math.max(0, open[tag.name] - 1);
    else if (!tag.isEmpty) open[tag.name] += 1;
    if (open.think + open.thinking === 0) {
      scan.place = PROSE;
      return true;
    }
  }
}
