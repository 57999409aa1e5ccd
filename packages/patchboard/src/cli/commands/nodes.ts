import type { NodesView, NodeView } from '@patchboard/wire';
import type { CliContext } from '../context.ts';
import { durationCell } from '../duration.ts';
import { asOperator, withOperatorOptions, type OperatorOptions } from '../operator-client.ts';
import { cell } from '../output.ts';
import type { Registrar } from '../program.ts';

const HELP = `
The server that responds is marked with *. BEAT is the age of the last
heartbeat, CALLS the open calls that the node holds, ROOM how many more it can
run. CONFIG is a hash of configuration, packs and hooks: a difference is
reported on stderr. A free node has stopped, or another one took it over.
Exits with 0 also if the nodes differ, or only one is running.

Examples:
  $ patchboard nodes
  $ patchboard nodes --json`;

export function nodesCommand(context: CliContext): Registrar {
  return (program) => {
    withOperatorOptions(program.command('nodes'))
      .description('list the servers that share the store')
      .addHelpText('after', HELP)
      .action((flags: OperatorOptions) => list(context, flags));
  };
}

async function list(context: CliContext, flags: OperatorOptions): Promise<void> {
  const view = await asOperator(context, flags, (client) => client.nodes());
  if (flags.json === true) return context.output.json(view);
  showNodes(context, view);
}

function showNodes({ output }: CliContext, { nodes, same_config: isSame }: NodesView): void {
  output.table(
    [
      { title: 'NODE' },
      { title: 'STATE' },
      { title: 'BEAT' },
      { title: 'CALLS' },
      { title: 'ROOM' },
      { title: 'VERSION' },
      { title: 'CONFIG' },
      { title: 'TOOK OVER', flexible: true },
      { title: 'HOLDER', flexible: true },
    ],
    nodes.map(rowOf),
  );
  // Below the table: a word in a column is easily missed.
  if (!isSame)
    output.note(
      'the nodes have different configurations, packs or hooks: compare CONFIG, and start them alike',
    );
}

function rowOf(node: NodeView): string[] {
  const { writer, state, calls, room, version, fingerprint, holder, url } = node;
  return [
    `${writer}${node.is_self ? ' *' : ''}`,
    cell(state),
    durationCell(node.last_beat_ms),
    String(calls),
    String(room),
    cell(version ?? ''),
    cell(fingerprint?.slice(0, 8) ?? ''),
    takeoverText(node),
    cell([url, holder].filter((text) => text !== null).join(' ')),
  ];
}

function takeoverText({ took_over: tookOver }: NodeView): string {
  if (tookOver === null) return '';
  return cell(`${tookOver.calls} calls of ${tookOver.writer}, ${tookOver.at}`);
}
