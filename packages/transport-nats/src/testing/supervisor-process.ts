/**
 * A process that supervises a server, for tests that kill it. Arguments: folder, program, and what to do then: `wait`, or `return` without stopping
 * the server. Prints one line of JSON when the server is ready.
 */
import { startNatsServer } from '../server.ts';

const [dir, binary, then] = process.argv.slice(2) as [string, string, string];
const { url, auth, pid, dir: realDir } = await startNatsServer({ dir, binary });
console.log(JSON.stringify({ url, auth, pid, dir: realDir }));
if (then === 'wait') setInterval(() => undefined, 60_000);
