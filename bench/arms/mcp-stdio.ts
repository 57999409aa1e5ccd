// The MCP server of the SDK over standard input and output. It ends when its input ends. The argument is the file that
// receives its process id: the client that starts it need not be the process that measures it.
import { writeFileSync } from 'node:fs';
import process from 'node:process';
import { serveStdio } from '@modelcontextprotocol/server/stdio';
import { echoMcpServer } from './echo-mcp-server.ts';

const [, , pidFile] = process.argv;
if (pidFile === undefined) throw new Error('the file for the process id is missing');
writeFileSync(pidFile, String(process.pid));
serveStdio(echoMcpServer);
