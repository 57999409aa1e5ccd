/** A shorter value is not masked: it would also match ordinary words. */
const SHORTEST_SECRET = 8;

/** `Bearer x`, `Basic x`, `Token x`: an authentication scheme and its credentials. */
const AUTHORIZATION = /^([A-Za-z][\w-]*) +(\S+)$/;

/**
 * Returns the texts in which a secret value may appear: as it is, without the scheme of an Authorization header, each of them
 * JSON-escaped, percent-encoded, and in base64 and base64url, and its lines, because log lines are single lines.
 */
export function formsOf(secret: string): string[] {
  const isLongEnough = (text: string): boolean => text.length >= SHORTEST_SECRET;
  const forms = plainFormsOf(secret)
    .filter(isLongEnough)
    .flatMap((value) => [
      value,
      ...jsonEscapesOf(value),
      ...percentEncodingsOf(value),
      ...base64FormsOf(value),
    ]);
  const lines = secret.split(/\r?\n/).map((line) => line.trim());
  return [...new Set([...forms, ...lines.filter(isLongEnough)])];
}

function plainFormsOf(secret: string): string[] {
  const [, scheme = '', credentials = ''] = AUTHORIZATION.exec(secret) ?? [];
  const values = [secret, secret.trim(), credentials];
  if (scheme.toLowerCase() !== 'basic') return values;
  const pair = Buffer.from(credentials, 'base64').toString();
  return [...values, pair, pair.slice(pair.indexOf(':') + 1)];
}

/** Twice, because an upstream may put JSON as text into JSON. */
function jsonEscapesOf(value: string): string[] {
  const once = [
    ...new Set([jsonEscape(value), asciiEscape(value), jsonEscape(value).replaceAll('/', '\\/')]),
  ];
  return [...once, ...once.map(jsonEscape)];
}

function jsonEscape(value: string): string {
  return JSON.stringify(value).slice(1, -1);
}

/** As encoders write that emit ASCII only. */
function asciiEscape(value: string): string {
  return jsonEscape(value).replaceAll(
    /[^\x20-\x7e]/g,
    (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
}

/** Also twice, as in a URL that is a parameter of another one, and of the JSON form, as in a parameter that is JSON. */
function percentEncodingsOf(value: string): string[] {
  if (/\p{Surrogate}/u.test(value)) return [];
  const component = encodeURIComponent(value);
  const strict = component.replaceAll(
    /[!'()*]/g,
    (unit) => `%${unit.charCodeAt(0).toString(16).toUpperCase()}`,
  );
  const form = new URLSearchParams([['', value]]).toString().slice(1);
  const json = jsonEscape(value);
  const encoded = [
    component,
    strict,
    form,
    encodeURI(value),
    encodeURIComponent(component),
    encodeURIComponent(json),
    encodeURI(json),
  ];
  const lowerCase = encoded.map((text) => text.replaceAll(/%[0-9A-F]{2}/g, (escape) => escape.toLowerCase()));
  return [...encoded, ...lowerCase];
}

/**
 * The whole encoding, and the part of it that does not depend on the bytes before and after the value: the value may be a part of
 * what was encoded, such as the password in `user:password`.
 */
function base64FormsOf(value: string): string[] {
  const bytes = Buffer.from(value);
  const inner = [0, 1, 2].map((before) => {
    const encoded = Buffer.concat([Buffer.alloc(before), bytes])
      .toString('base64')
      .replaceAll('=', '');
    const isPartial = (before + bytes.length) % 3 !== 0;
    return encoded.slice(before === 0 ? 0 : before + 1, isPartial ? -1 : undefined);
  });
  const whole = bytes.toString('base64');
  const standard = [whole, whole.replaceAll('=', ''), ...inner];
  return [...standard, ...standard.map((text) => text.replaceAll('+', '-').replaceAll('/', '_'))];
}
