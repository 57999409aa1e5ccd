import { describe, expect, it } from 'vitest';
import { parseUriTemplate } from './uri-template.ts';

function template(text: string) {
  const parsed = parseUriTemplate(text);
  if (parsed === null) throw new Error(`not a template of level 1: ${text}`);
  return parsed;
}

describe('a URI template of level 1', () => {
  it.each([
    ['notes://all', 'no variable'],
    ['notes://{a}{b}', 'two variables without text between them'],
    ['notes://{a}/{a}', 'a name twice'],
    ['notes://{+a}', 'an operator of level 2'],
    ['notes://{a,b}', 'a list of level 3'],
    ['notes://{a}/}', 'a brace that belongs to no variable'],
    ['notes://{}', 'an empty name'],
  ])('is not %s: %s', (text) => {
    expect(parseUriTemplate(text)).toBeNull();
  });

  it('matches what it expands to, whatever the values contain', () => {
    const { variables, match, expand } = template('notes://{folder}/pages/{page}.md');
    expect(variables).toEqual(['folder', 'page']);
    for (const values of [
      { folder: 'a', page: 'b' },
      { folder: 'a/b c', page: '?#%{}' },
      { folder: '村庄', page: "it's (1)*!" },
      { folder: 'a.md', page: 'b.md' },
    ]) {
      const uri = expand(values);
      expect(uri).toMatch(/^[\x21-\x7e]+$/);
      expect(match(uri)).toEqual(values);
    }
  });

  it.each([
    'notes://a/pages/.md',
    'notes:///pages/b.md',
    'notes://a/pages/b',
    'notes://a/b/pages/c.md',
    'notes://a/pages/b/c.md',
    'notes://a/pages/b?x.md',
    'notes://a/pages/%zz.md',
    'notes://a/pages/%ff.md',
    'other://a/pages/b.md',
    'notes://a',
  ])('does not match %s', (uri) => {
    expect(template('notes://{folder}/pages/{page}.md').match(uri)).toBeNull();
  });

  it('takes time linear in the length of the URI', () => {
    const { match } = template('x:{a}-{b}-{c}-{d}-{e}-{f}-{g}-{h}!');
    expect(match(`x:${'-'.repeat(200_000)}`)).toBeNull();
    expect(match(`x:${'a-'.repeat(100_000)}`)).toBeNull();
  });

  it('does not reach the prototype of an object', () => {
    expect(Object.entries(template('x:{__proto__}').match('x:1') ?? {})).toEqual([['__proto__', '1']]);
  });
});
