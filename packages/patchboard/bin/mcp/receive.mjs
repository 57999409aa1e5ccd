import { parsed } from './json-rpc.mjs';
import { lostConnection, refusalOf } from './request-error.mjs';
import { eventsOf, isEventStream, textOf } from './response-body.mjs';
import { note } from './stderr.mjs';

/**
 * Writes what the server returns for a message of the client. Calls `onResult` with the result of each request before it
 * is written.
 */
export async function receive(exchange, response, output, onResult) {
  if (isEventStream(response)) await receiveEvents(exchange, response, output, onResult);
  else await receiveBody(exchange, response, output, onResult);
}

async function receiveEvents(exchange, response, output, onResult) {
  try {
    for await (const data of eventsOf(response.body)) {
      markAnswered(exchange, parsed(data), onResult);
      await output.write(data);
    }
  } catch (error) {
    throw exchange.controller.signal.aborted ? error : lostConnection(response.url, error);
  }
  if (exchange.unanswered.size > 0) throw lostConnection(response.url, new Error('the stream ended'));
}

async function receiveBody(exchange, response, output, onResult) {
  const { unanswered, method } = exchange;
  const text = response.alreadyRead ?? (await textOf(response));
  const message = parsed(text);
  if (unanswered.size === 0) {
    if (response.status >= 400)
      note(`${method ?? 'a response'} was refused: ${refusalOf(response, message).message}`);
    return;
  }
  markAnswered(exchange, message, onResult);
  if (unanswered.size === 0) return await output.write(text);
  const error = refusalOf(response, message);
  for (const id of unanswered) output.writeError(id, error);
  unanswered.clear();
}

/** Marks the requests that a message, or a batch of them, responds to. */
function markAnswered({ unanswered }, received, onResult) {
  for (const message of [received].flat()) {
    if (typeof message?.method === 'string' || !unanswered.delete(message?.id)) continue;
    if (message.result !== undefined) onResult(message.result);
  }
}
