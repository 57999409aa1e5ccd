import { SUBSCRIPTION_ID_META_KEY } from '@modelcontextprotocol/server';
import { chargeRequest } from '../charge-request.ts';
import type { Exchange } from '../exchange.ts';
import { toRpcError } from '../messages/failures.ts';
import { followChanges, type ListName } from './list-changes.ts';
import { membersOf, resultJson } from '../messages/result-json.ts';
import { TASKS_EXTENSION } from '../../../protocols/mcp/revisions.ts';
import { RPC_CODES } from '../../../protocols/mcp/rpc-codes.ts';
import { invalidParams, missingCapability, RpcError } from '../messages/rpc-error.ts';
import { followTasks, visibleTasks } from '../tasks/task-changes.ts';

/** Upper bound on the resources of one stream. */
const MAX_URIS = 100;
/** Upper bound on the tasks of one stream. */
const MAX_TASKS = 100;

const LISTS: Readonly<Record<ListName, string>> = {
  tools: 'toolsListChanged',
  prompts: 'promptsListChanged',
  resources: 'resourcesListChanged',
};

/** What a client wants to be notified of. Undefined: it named no resources, or no tasks. */
interface Filter {
  readonly lists: ReadonlySet<ListName>;
  readonly uris: readonly string[] | undefined;
  readonly taskIds: readonly string[] | undefined;
}

/** `subscriptions/listen`: streams notifications until the client disconnects, its credential ends or the server closes. */
export async function listen(exchange: Exchange): Promise<string> {
  chargeRequest(exchange);
  const { context, principal, response, client } = exchange;
  const { lists, uris, taskIds } = readFilter(exchange.params);
  if (taskIds !== undefined && !client.hasTasks)
    throw missingCapability({ extensions: { [TASKS_EXTENSION]: {} } });
  if (!response.canStream)
    throw new RpcError(RPC_CODES.invalidRequest, 'subscriptions/listen needs Accept: text/event-stream', {
      status: 406,
    });
  const tasks = await visibleTasks(exchange, taskIds ?? []);
  const seen = uris?.filter((uri) => context.engine.resources.unknown(principal, uri) === null);
  // Checked where nothing is awaited before the stream is counted.
  const refused = context.eventStreams.refusal(principal);
  if (refused !== null) throw toRpcError(refused);
  const meta = { [SUBSCRIPTION_ID_META_KEY]: response.id };
  const notify = (method: string, members: string): void =>
    response.notifyJson(method, `{"_meta":${JSON.stringify(meta)}${members === '' ? '' : `,${members}`}}`);
  context.eventStreams.add(response.stream(), principal);
  notify(
    'notifications/subscriptions/acknowledged',
    membersOf({
      notifications: {
        ...Object.fromEntries([...lists].map((list) => [LISTS[list], true])),
        ...(seen === undefined ? {} : { resourceSubscriptions: seen }),
        ...(taskIds === undefined ? {} : { taskIds: tasks.map(({ id }) => id) }),
      },
    }),
  );
  await response.hold(async (signal) => {
    const stops = [
      followChanges(context, principal, { lists, uris: seen ?? [] }, (method, params) =>
        notify(method, membersOf(params)),
      ),
      followTasks(exchange, tasks, (members) => notify('notifications/tasks', members)),
    ];
    await aborted(signal);
    for (const stop of stops) stop();
  });
  return resultJson('modern', '', { meta });
}

async function aborted(signal: AbortSignal): Promise<void> {
  if (signal.aborted) return;
  await new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve(), { once: true }));
}

/** The SDK's schema has accepted the parameters, but knows nothing of tasks. */
function readFilter(params: Exchange['params']): Filter {
  const wanted = params['notifications'] as Readonly<Record<string, unknown>>;
  const lists = (Object.keys(LISTS) as ListName[]).filter((list) => wanted[LISTS[list]] === true);
  return {
    lists: new Set(lists),
    uris: textsIn(wanted, 'resourceSubscriptions', MAX_URIS),
    taskIds: textsIn(wanted, 'taskIds', MAX_TASKS),
  };
}

function textsIn(
  wanted: Readonly<Record<string, unknown>>,
  name: string,
  most: number,
): readonly string[] | undefined {
  const values = wanted[name];
  if (values === undefined) return undefined;
  if (!Array.isArray(values) || !values.every((value) => typeof value === 'string'))
    throw invalidParams(`notifications.${name} must be a list of strings`);
  const unique = [...new Set<string>(values)];
  if (unique.length > most) throw invalidParams(`notifications.${name} has more than ${most} entries`);
  return unique;
}
