import type { SdkCall, SdkCallSettings } from '../arms/sdk-call.ts';
import { runScript } from '../child.ts';
import type { Figure, FigureOptions } from '../figure.ts';
import { armOf } from '../measurement.ts';
import { comparePaired, spreadOf } from '../statistics.ts';

/** P5: the cost of an in-process call, compared with the plain function and with the AI SDK's loop. */
export async function sdkCall({ quick, say }: FigureOptions): Promise<Figure> {
  const slices = quick ? 1 : 5;
  const settings: SdkCallSettings = quick ? { calls: 200, loops: 5 } : { calls: 20_000, loops: 200 };
  const runs: SdkCall[] = [];
  for (let slice = 0; slice < slices; slice += 1) {
    say(`P5: slice ${slice + 1} of ${slices}`);
    runs.push(await runScript<SdkCall>('./arms/sdk-call.ts', settings));
  }
  const over = runs.map(({ boardUs, bareUs }) => boardUs - bareUs);
  const bare = runs.map(({ bareUs }) => bareUs);
  const aiSdk = runs.map(({ aiSdkUs }) => aiSdkUs);
  return {
    id: 'P5',
    work: [
      'board.call() of a tool that adds two numbers: schema, policy, record, slot, deadline, execute, output, ledger, event;',
      'what that costs over the function, and ÷ one more tool call in a generateText loop whose model replies at once.',
      "Microseconds are the process's own time, and rise with what else the machine does.",
    ],
    durability: 'none: calls and ledger are kept in memory',
    outcomes: [
      { name: 'over the bare function', unit: 'µs', ...spreadOf(over), target: { atMost: 15 } },
      {
        name: "÷ one more tool call in the AI SDK's own loop",
        ...comparePaired(over, aiSdk),
        target: { atMost: 0.1 },
      },
    ],
    arms: {
      'board.call over the function': armOf('µs', over),
      'the function': armOf('µs', bare),
      'one more call in generateText': armOf('µs', aiSdk),
    },
  };
}
