// The thread of `IndexThread`.
import { parentPort, workerData } from 'node:worker_threads';
import { messageOf } from '../../../core/failures.ts';
import type { IndexRequest } from './index-methods.ts';
import { IndexOwner } from './index-owner.ts';

export interface IndexWorkerSettings {
  readonly file: string;
}

export interface NumberedRequest {
  readonly number: number;
  readonly request: IndexRequest;
}

export type IndexReply =
  | { readonly number: number; readonly value: unknown }
  | { readonly number: number; readonly problem: string };

const port = parentPort;
if (port === null) throw new Error('index-worker runs in a thread');
const { file } = workerData as IndexWorkerSettings;
const owner = new IndexOwner(file, () => Date.now());

function reply({ number, request }: NumberedRequest): IndexReply {
  try {
    return { number, value: owner.handle(request) };
  } catch (error) {
    return { number, problem: messageOf(error) };
  }
}

port.on('message', (message: NumberedRequest | 'close') => {
  if (message !== 'close') {
    port.postMessage(reply(message));
    return;
  }
  owner.close();
  port.close();
});
