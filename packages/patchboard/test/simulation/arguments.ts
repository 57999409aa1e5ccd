import { availableParallelism } from 'node:os';
import { parseArgs } from 'node:util';

export const HELP = `npm run simulate -- [options]

Runs real engines on simulated time, network and storage, and checks what happened.

  --seeds A-B     the seeds to run (default: 1-200)
  --seed N        one seed; prints its history
  --keep A,B      with --seed: only these steps of its plan, such as agents.3,faults.1
  --mutants       plants known faults in the product, one at a time, and prints which seed found each
  --no-shrink     reports a failing seed as it is, without a search for fewer steps
  --workers N     threads that run seeds (default: the number of cores)
  --help          prints this text

Exit code: 0 if every check held (with --mutants: if every fault was found), otherwise 1; 2 for options that are not valid.
`;

export type Command =
  | { readonly kind: 'help' }
  | { readonly kind: 'invalid'; readonly problem: string }
  | { readonly kind: 'mutants'; readonly workers: number }
  | { readonly kind: 'seed'; readonly seed: number; readonly keep: readonly string[] | null }
  | {
      readonly kind: 'seeds';
      readonly from: number;
      readonly to: number;
      readonly workers: number;
      readonly shrinks: boolean;
    };

export function commandOf(args: readonly string[]): Command {
  try {
    return decoded(args);
  } catch (error) {
    return { kind: 'invalid', problem: error instanceof Error ? error.message : String(error) };
  }
}

function decoded(args: readonly string[]): Command {
  const { values } = parseArgs({
    args: [...args],
    options: {
      seeds: { type: 'string' },
      seed: { type: 'string' },
      keep: { type: 'string' },
      'no-shrink': { type: 'boolean', default: false },
      workers: { type: 'string' },
      mutants: { type: 'boolean', default: false },
      help: { type: 'boolean', default: false },
    },
  });
  if (values.help) return { kind: 'help' };
  const workers =
    values.workers === undefined ? availableParallelism() : wholeNumber('--workers', values.workers);
  if (workers === 0) throw new Error('--workers takes a number of at least 1');
  if (values.mutants) {
    if (values.seed !== undefined || values.seeds !== undefined)
      throw new Error('--mutants has seeds of its own, so it excludes --seed and --seeds');
    return { kind: 'mutants', workers };
  }
  if (values.seed !== undefined) {
    if (values.seeds !== undefined) throw new Error('--seed and --seeds exclude each other');
    const keep = values.keep?.split(',').filter((id) => id !== '') ?? null;
    return { kind: 'seed', seed: wholeNumber('--seed', values.seed), keep };
  }
  if (values.keep !== undefined) throw new Error('--keep needs --seed');
  const [first = '1', last = first] = (values.seeds ?? '1-200').split('-');
  const [from, to] = [wholeNumber('--seeds', first), wholeNumber('--seeds', last)];
  if (to < from) throw new Error(`--seeds ${from}-${to}: the last seed is before the first`);
  return { kind: 'seeds', from, to, workers, shrinks: !values['no-shrink'] };
}

function wholeNumber(option: string, text: string): number {
  const number = Number(text);
  if (!/^\d+$/.test(text) || !Number.isSafeInteger(number))
    throw new Error(`${option} takes a whole number, not "${text}"`);
  return number;
}
