import { Command, Option } from 'commander';
import { describe, expect, it } from 'vitest';
import { bashScript } from './bash-script.ts';
import { completedCommands } from './command-model.ts';
import { fishScript } from './fish-script.ts';
import { suggesting } from './suggestions.ts';
import { zshScript } from './zsh-script.ts';

const program = new Command('patchboard');
const things = program.command('things').description("things' group");
things
  .command('ls')
  .description('list things (default)')
  .addOption(new Option('-s, --sort <column>', "by what (it's optional)").choices(['a', 'b']))
  .addOption(suggesting(new Option('--state <state>', 'state'), ['OPEN']))
  .option('--out <file>', 'target')
  .option('--free <text>', 'any text')
  .option('--all', 'all of them');
things.command('show').description('show one').argument('<tool>', 'its name').argument('[file...]', 'more');
const commands = completedCommands(program);

describe('what completion knows', () => {
  it('is declared by the commands: a group has the options of its default command', () => {
    expect(commands.map(({ path }) => path)).toEqual(['', 'things', 'things ls', 'things show']);
    expect(commands[1]).toMatchObject({
      subcommands: [
        { name: 'ls', description: 'list things' },
        { name: 'show', description: 'show one' },
      ],
      options: [
        { names: ['--sort', '-s'], description: 'by what', value: ['a', 'b'] },
        { names: ['--state'], value: ['OPEN'] },
        { names: ['--out'], value: 'files' },
        { names: ['--free'], value: [] },
        { names: ['--all'], value: null },
        { names: ['--help', '-h'] },
      ],
    });
    expect(commands[3]).toMatchObject({ args: ['tools', 'files'], isVariadic: true });
  });
});

describe('the scripts', () => {
  it('for bash has names, options with values, and values by place', () => {
    const script = bashScript(commands);
    expect(script).toContain(
      "    'things show')\n      subs=''\n      opts='--help -h'\n      valued=''\n      last=1 ;;",
    );
    expect(script).toContain(
      "'things|--sort'|'things|-s'|'things ls|--sort'|'things ls|-s') COMPREPLY=($(compgen -W 'a b'",
    );
    expect(script).toContain(`'things show#0') _patchboard_dynamic tools "$2" ;;`);
  });

  it('for zsh has descriptions, with quotes escaped', () => {
    const script = zshScript(commands);
    expect(script).toMatch(/^#compdef patchboard\n/);
    expect(script).toContain(String.raw`subs=('things:things'\'' group')`);
    expect(script).toContain("'--sort:by what' '-s:by what' '--state:state'");
    expect(script).toContain("'things|--state'|'things ls|--state') compadd -- 'OPEN' ;;");
    // `source` works in a shell that has not started its completion yet.
    expect(script).toMatch(/\$\+functions\[compdef\] .*compinit -i; \}\n +compdef _patchboard patchboard\n/);
  });

  it('for fish has one line for each command, option and argument', () => {
    const lines = fishScript(commands).split('\n');
    const at = String.raw`complete -c patchboard -n '__patchboard_at \'things ls\''`;
    expect(lines).toEqual(
      expect.arrayContaining([
        String.raw`complete -c patchboard -n '__patchboard_at \'\'' -a 'things' -d 'things\' group'`,
        `${at} -l sort -s s -x -a 'a b' -d 'by what'`,
        `${at} -l out -r -F -d 'target'`,
        `${at} -l free -x -d 'any text'`,
        `${at} -l all -d 'all of them'`,
        String.raw`complete -c patchboard -n '__patchboard_at \'things show\'' -a '(__patchboard_dynamic tools)'`,
      ]),
    );
  });
});
