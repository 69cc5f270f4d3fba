import { play, lostUpdate } from './testing/index.ts';
const h = JSON.parse(process.argv[2]!);
const p = play(h); console.log(JSON.stringify(p.state.specs)); 
for (const r of p.rounds.slice(1)) for (const d of r.sealed.decided) console.log(r.sealed.revision, d.admitted.proposal.agent, d.admitted.proposal.n, 'base', d.admitted.proposal.base.revision, JSON.stringify(d.admitted.proposal.patch), d.verdictText.slice(0, 300));
console.log(lostUpdate(p));
