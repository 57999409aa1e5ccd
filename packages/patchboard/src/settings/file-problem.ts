import { messageOf } from '../core/failures.ts';

/** Returns why a file cannot be read or written, in words for an operator. */
export function fileProblem(error: unknown): string {
  switch ((error as NodeJS.ErrnoException).code) {
    case 'ENOENT':
      return 'there is no such file or folder';
    case 'EISDIR':
      return 'it is a folder';
    case 'ENOTDIR':
      return 'a part of the path is a file';
    case 'EACCES':
    case 'EPERM':
      return 'this user has no permission';
    default:
      return messageOf(error);
  }
}
