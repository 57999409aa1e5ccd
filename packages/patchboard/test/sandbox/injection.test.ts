import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { forAllTests } from './support/for-all-tests.ts';

/** What a shell, ripgrep or a glob would take for something else. */
const TRICKS = [
  '$(touch hit)',
  '`touch hit`',
  '; touch hit',
  '| touch hit',
  '&& touch hit',
  '> hit',
  "'",
  '"',
  '\\',
  '\n',
  '--pre=touch hit',
  '--replace=x',
  '-e',
  '-f',
  '--',
  '!',
  '*',
  '?',
  '[a]',
  '{a,b}',
  '#',
  '~',
  '$HOME',
  '%s',
  '中',
];
const text = fc.array(fc.oneof(fc.constantFrom(...TRICKS), fc.string({ maxLength: 4 })), {
  minLength: 1,
  maxLength: 4,
});
const name = text
  .map((parts) => parts.join('').replaceAll(/[/\0]/g, '_').slice(0, 60))
  .filter((one) => !/^\.{0,2}$/.test(one));

describe('arguments are only arguments', () => {
  const { sandbox } = forAllTests();

  async function names(path: string): Promise<string[]> {
    return (await sandbox().list(path)).map((entry) => entry.name);
  }

  it('as names of files', async () => {
    await fc.assert(
      fc.asyncProperty(name, fc.string(), async (path, content) => {
        await sandbox().writeFile(`names/${path}`, content);
        expect(await sandbox().readFile(`names/${path}`)).toBe(Buffer.from(content).toString('utf8'));
        expect(await names('names')).toContain(path);
      }),
      { numRuns: 60 },
    );
    expect(await names('.')).toEqual(['names']);
  });

  it('as patterns of a search', async () => {
    await fc.assert(
      fc.asyncProperty(text, async (parts) => {
        const pattern = parts.join('').replaceAll('\0', '');
        fc.pre(pattern !== '' && !pattern.includes('\n'));
        await sandbox().writeFile('searched/file.txt', `before\n${pattern}\nafter\n`);
        const query = { pattern, literal: true, ignoreCase: false, wholeWord: false, multiline: false };
        const { matches } = await sandbox().files.grep({
          ...query,
          path: 'searched',
          glob: null,
          context: 0,
          limit: 10,
        });
        expect(matches.map((match) => match.text)).toContain(pattern.replace(/\r$/, ''));
      }),
      { numRuns: 60 },
    );
    expect(await names('.')).not.toContain('hit');
  });

  it('as patterns of names and exclusions', async () => {
    await fc.assert(
      fc.asyncProperty(text, text, async (pattern, exclude) => {
        const query = {
          pattern: pattern.join('').replaceAll('\0', ''),
          exclude: [exclude.join('').replaceAll('\0', '')],
        };
        fc.pre(query.pattern !== '' && query.exclude[0] !== '');
        const result = await sandbox()
          .files.glob({ ...query, path: '.', limit: 10 })
          .catch((error: unknown) => error);
        // Found or refused; a pattern is never a reason for anything else.
        if (result instanceof Error) expect(result).toMatchObject({ failure: { code: 'input_invalid' } });
      }),
      { numRuns: 60 },
    );
    expect(await names('.')).not.toContain('hit');
  });

  it('as folders of a command', async () => {
    await fc.assert(
      fc.asyncProperty(name, async (folder) => {
        await sandbox().writeFile(`folders/${folder}/x`, '');
        const { stdout } = await sandbox().exec('pwd', { cwd: `folders/${folder}` });
        expect(stdout).toBe(`${sandbox().root}/folders/${folder}\n`);
      }),
      { numRuns: 25 },
    );
    expect(await names('.')).not.toContain('hit');
  });
});
