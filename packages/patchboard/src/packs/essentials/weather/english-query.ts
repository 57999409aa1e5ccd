import { stripAffixes } from './strip-affixes.ts';
import type { Found } from './strip-affixes.ts';

const DAY = '(?:mon|tues|wednes|thurs|fri|satur|sun)day';
const OTHER_TIME = new RegExp(
  `\\b(?:tomorrow|yesterday|(?:next|last|previous|coming) (?:day|night|week|weekend|month|year|${DAY})s?|(?:this |the )?weekend|(?:on|this) ${DAY}|in \\d+ (?:hours?|days?|weeks?)|\\d+[- ]day)\\b`,
  'i',
);

const ASKED =
  'weather|temperatures?|temp|forecast|conditions?|humidity|wind(?: speed)?|climate|rain(?:ing)?|snow(?:ing)?';
const NOW = "today(?:'s)?|tonight|now|right now|currently|current|this (?:morning|afternoon|evening)";
const GAP = '[\\s,.;:!?"()\\-]+';
const POLITE =
  "hi|hello|hey|please|thanks|thank you|tell me|show me|give me|get me|get|show|check|find|look up|fetch|can you|could you|i (?:want|need|would like)(?: to know)?|i'd like(?: to know)?|do you know|let me know|about";
const QUESTION =
  "what's|whats|what is|what are|what|how's|hows|how is|how (?:hot|cold|warm|cool|sunny|cloudy|windy|humid)|how|is it|is there|is|it's|will it|does it|it|(?:going )?to be|like|feel|degrees(?: celsius| fahrenheit)?|outside";
const HERE = 'here|there|my (?:location|place|city|area)|where i am|me';
// An article is stripped only together with its word: The Hague keeps its article.
const BEFORE = new RegExp(
  `^(?:${GAP}|(?:(?:the|a) )?(?:${POLITE}|${QUESTION}|${NOW}|${ASKED}|${HERE})(?=$|[\\s,.;:!?])|(?:the )?city of (?=\\S)|(?:in|at|for|near|around|of|like|the)(?=$|[,.;:!?]))`,
  'i',
);
const LINK = /^(?:in|at|for|near|around|of) (?=\S)/i;
const AFTER = new RegExp(
  `(?:${GAP}|(?:^|[\\s,.;:!?])(?:(?:the|a) )?(?:${POLITE}|${QUESTION}|${NOW}|${ASKED}|${HERE}|in|at|for|near|of|the|and|or|celsius|fahrenheit)|(?<=\\S)'s?)$`,
  'i',
);
/** A text without a word about weather is read as a place only if it is short. */
const MAX_BARE_WORDS = 5;

export function placeInEnglish(text: string): Found {
  const other = OTHER_TIME.exec(text);
  if (other !== null) return { words: other[0] };
  const about = new RegExp(
    `\\b(?:${ASKED}|hot|cold|warm|cool|sunny|cloudy|windy|humid|outside)\\b`,
    'i',
  ).test(text);
  if (!about && text.split(' ').length > MAX_BARE_WORDS) return { place: '' };
  const timeless = text.replace(/\bat the moment\b/i, '');
  // The place follows the first preposition.
  const linked = /(?:^|\s)(?:in|at|for|near|around)\s+(\S.*)$/i.exec(timeless)?.[1];
  const afterLink = linked === undefined ? '' : stripAffixes(linked, BEFORE, LINK, AFTER);
  return { place: afterLink === '' ? stripAffixes(timeless, BEFORE, LINK, AFTER) : afterLink };
}
