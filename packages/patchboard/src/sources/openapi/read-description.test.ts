import { reasonText } from '@patchboard/wire';
import { describe, expect, it } from 'vitest';
import { DESCRIPTION_BYTES, readDescription } from './read-description.ts';

async function problemWith(text: string): Promise<string> {
  const read = await readDescription(text);
  return read.ok ? 'none' : reasonText(read.problem);
}

describe('readDescription', () => {
  it.each([
    ['{"openapi": "3.0.3", "info": {"title": "Pets", "version": "2"}}', '3.0'],
    ['\ufeff {"openapi": "3.1.1", "info": {"title": "Pets", "version": "2"}}', '3.1'],
    ['openapi: 3.1.0\ninfo:\n  title: Pets\n  version: "2"\n', '3.1'],
    ['# pets\r\nopenapi: "3.0"\r\ninfo: {title: Pets, version: 2}\r\n', '3.0'],
    ['openapi: 3.0\ninfo: {title: Pets, version: 2}', '3.0'],
  ])('reads %j', async (text, version) => {
    const read = await readDescription(text);
    expect(read).toMatchObject({ ok: true, description: { version, info: { title: 'Pets', version: '2' } } });
  });

  it('reads anchors and merge keys of YAML', async () => {
    const read = await readDescription(
      'openapi: 3.1.0\nx-one: &one {a: 1}\nx-two:\n  <<: *one\n  b: 2\nx-three: *one\n',
    );
    expect(read.ok && read.description.document).toMatchObject({
      'x-two': { a: 1, b: 2 },
      'x-three': { a: 1 },
    });
  });

  it.each([
    ['', 'expected a document, but the input is empty'],
    ['[]', 'it must be an object with a member `openapi`'],
    ['{"paths": {}}', 'it must be an object with a member `openapi`'],
    [
      '{"swagger": "2.0"}',
      'Swagger 2.0 description; convert it to OpenAPI 3 first, for example with `npx swagger2openapi`',
    ],
    ['openapi: 3.2.0', 'OpenAPI 3.2.0 is not supported; supported are the versions 3.0.x and 3.1.x'],
    ['openapi: 4', 'OpenAPI 4 is not supported'],
    ['{"openapi": "3.0.3",', 'neither JSON nor YAML: Expected double-quoted property name'],
    ['openapi: "3.0.3', 'neither JSON nor YAML: unexpected end of the stream'],
    ['<html>\n<p>: a: b</p>', 'neither JSON nor YAML'],
  ])('refuses %j', async (text, problem) => {
    expect(await problemWith(text)).toContain(problem);
  });

  it('refuses a text over the limit, without parsing it', async () => {
    const text = `{"openapi": "3.0.3", "x-a": "${'é'.repeat(DESCRIPTION_BYTES / 2)}"}`;
    expect(await problemWith(text)).toBe(`the OpenAPI description is larger than ${DESCRIPTION_BYTES} bytes`);
  });

  it.each([
    [
      'JSON',
      `{"openapi": "3.0.3", "x-a": ${'['.repeat(200)}${']'.repeat(200)}}`,
      'nested deeper than 100 levels',
    ],
    ['flow collections of YAML', `openapi: 3.0.3\nx-a: ${'['.repeat(100_000)}`, 'nesting exceeded maxDepth'],
    [
      'block collections of YAML',
      `openapi: 3.0.3\nx-a:\n${'- '.repeat(100_000)}`,
      'nesting exceeded maxDepth',
    ],
    ['an alias of what contains it', 'openapi: 3.0.3\nx-a: &a\n  b: *a\n', 'nested deeper than 100 levels'],
  ])('refuses deep nesting of %s', async (_name, text, problem) => {
    expect(await problemWith(text)).toContain(problem);
  });

  it('refuses aliases that multiply', async () => {
    const levels = Array.from({ length: 12 }, (_, level) => {
      const items = level === 0 ? 'x'.repeat(9).split('') : Array.from({ length: 9 }, () => `*a${level - 1}`);
      return `x-${level}: &a${level} [${items.join(', ')}]`;
    });
    expect(await problemWith(`openapi: 3.0.3\n${levels.join('\n')}`)).toContain('more than 1000000 values');
  });

  it('refuses many aliases of a large anchor', async () => {
    const anchor = `x-a: &a [${'1, '.repeat(999)}1]`;
    const uses = Array.from({ length: 2_000 }, (_, index) => `x-${index}: *a`).join('\n');
    expect(await problemWith(`openapi: 3.0.3\n${anchor}\n${uses}`)).toContain('more than 1000000 values');
  });
});
