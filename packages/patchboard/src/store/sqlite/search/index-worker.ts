// The thread of `IndexThread`.
import { workerData } from 'node:worker_threads';
import { handleRequests } from '../../request-worker.ts';
import type { IndexRequest } from './index-methods.ts';
import { IndexOwner } from './index-owner.ts';

export interface IndexWorkerSettings {
  readonly file: string;
}

const { file } = workerData as IndexWorkerSettings;
const owner = new IndexOwner(file, () => Date.now());

handleRequests<IndexRequest>({
  handle: (request) => owner.handle(request),
  close: () => owner.close(),
});
