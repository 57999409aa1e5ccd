import type { SdkCall, SdkCalls, SdkCallSettings } from '../arms/sdk-call.ts';
import { runScript } from '../child.ts';
import type { Figure, FigureOptions } from '../figure.ts';
import { armOf } from '../measurement.ts';
import { comparePaired, spreadOf } from '../statistics.ts';

/** P5: the cost of an in-process call, compared with the plain function and with the AI SDK's loop. */
export async function sdkCall({ quick, say }: FigureOptions): Promise<Figure> {
  const slices = quick ? 1 : 5;
  const settings: SdkCallSettings = quick ? { calls: 200, loops: 5 } : { calls: 20_000, loops: 200 };
  const runs: SdkCalls[] = [];
  for (let slice = 0; slice < slices; slice += 1) {
    say(`P5: slice ${slice + 1} of ${slices}`);
    runs.push(await runScript<SdkCalls>('./arms/sdk-call.ts', settings));
  }
  const first = costsOf(runs.map((run) => run.first));
  const later = costsOf(runs.map((run) => run.later));
  return {
    id: 'P5',
    work: [
      'board.call() of a tool that adds two numbers: schema, policy, record, slot, deadline, execute, output, ledger, event;',
      'what that costs over the function, and ÷ one more tool call in a generateText loop whose model replies at once:',
      'the first 25,000 calls of a process without the first 5,000, in which V8 still compiles, and 20,000 after 65,000.',
      "Microseconds are the process's own time, and rise with what else the machine does.",
    ],
    durability: 'none: calls and ledger are kept in memory',
    outcomes: [
      { name: 'over the bare function', unit: 'µs', ...spreadOf(first.over), target: { atMost: 15 } },
      {
        name: "÷ one more tool call in the AI SDK's own loop",
        ...comparePaired(first.over, first.aiSdk),
        target: { atMost: 0.1 },
      },
      { name: 'after 65,000 calls: over the bare function', unit: 'µs', ...spreadOf(later.over) },
      {
        name: "after 65,000 calls: ÷ one more tool call in the AI SDK's own loop",
        ...comparePaired(later.over, later.aiSdk),
      },
    ],
    arms: {
      'board.call over the function': armOf('µs', first.over),
      'the function': armOf('µs', first.bare),
      'one more call in generateText': armOf('µs', first.aiSdk),
      'board.call over the function, after 65,000 calls': armOf('µs', later.over),
      'one more call in generateText, after 65,000 calls': armOf('µs', later.aiSdk),
    },
  };
}

/** Microseconds. */
interface Costs {
  readonly over: readonly number[];
  readonly bare: readonly number[];
  readonly aiSdk: readonly number[];
}

function costsOf(runs: readonly SdkCall[]): Costs {
  return {
    over: runs.map(({ boardUs, bareUs }) => boardUs - bareUs),
    bare: runs.map(({ bareUs }) => bareUs),
    aiSdk: runs.map(({ aiSdkUs }) => aiSdkUs),
  };
}
