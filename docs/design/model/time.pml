/* The server's clock and a server that fails over, against one bucket's lease.

   Two relays lease a bucket for L ticks and settle whenever they get to it, however late. The server's clock ticks,
   and jumps once, back or ahead. A failover may lose the last lease: the row is as it was before it.

   Lease    the statement lease, its FREE: PostgresLeases, MongoLeases.isFree
   Settle   Leases.lockHeld: owner and token, and no time

   Switches (-DNAME=value), defaults as the code is:
   RULE      1  a lease that begins too far ahead of the clock is free; 0: only time frees it
   OWNER     1  owner and token are asked; 0: the token alone; 2: nothing but that the lease has not run out
   FAILOVER  0  1: there is one
   L 2, END 8 (the clock's range)                                                                            */
#ifndef RULE
#define RULE 1
#endif
#ifndef OWNER
#define OWNER 1
#endif
#ifndef FAILOVER
#define FAILOVER 0
#endif
#ifndef L
#define L 2
#endif
#ifndef END
#define END 8
#endif
#define NOBODY 9

byte now = END/2;
byte owner = NOBODY; byte token; byte until; byte leasedAt;          /* the row */
byte owner0 = NOBODY; byte token0; byte until0; byte leasedAt0;      /* as it was before the last lease */
bool jumped, failedOver = !FAILOVER;
byte next;                              /* the next owner id: new for each claim */
byte waited;                            /* ghost: ticks since the holder was heard of, the clock jumped or the server failed over */
byte tookOver = NOBODY;                 /* ghost: the last one that leased, also when a failover forgot it */

#define FREE (owner==NOBODY || until<=now || (RULE && leasedAt>now+until-leasedAt))
#define MINE ((OWNER==1 && owner==mine && token==tk) || (OWNER==0 && owner!=NOBODY && token==tk) || (OWNER==2 && until>now))

proctype Relay() { byte mine = NOBODY; byte tk;
end:
  do
  :: atomic { mine==NOBODY && FREE && next<4 && now+L<=255 ->
        owner0=owner; token0=token; until0=until; leasedAt0=leasedAt;
        mine=next; next++; token++; tk=token; owner=mine; leasedAt=now; until=now+L; waited=0; tookOver=mine }
  :: atomic { mine!=NOBODY && MINE ->                                 /* settle; also when it comes late */
        assert(tookOver==mine || owner==mine);                        /* S1: nobody else holds it */
        owner=NOBODY; waited=0; mine=NOBODY; tk=0 }
  :: atomic { mine!=NOBODY && !MINE -> mine=NOBODY; tk=0 }            /* lost */
  :: atomic { mine!=NOBODY -> mine=NOBODY; tk=0 }                     /* crash */
  od }

proctype Clock() {
end:
  do
  :: atomic { now<END -> now++;
        if :: !FREE -> waited++; assert(waited<=2*L) :: else fi }     /* C4: not much longer than the lease */
  :: atomic { !jumped -> jumped=1; waited=0; now=0; do :: now<END -> now++ :: break od }
  :: atomic { !failedOver -> failedOver=1; waited=0; owner=owner0; token=token0; until=until0; leasedAt=leasedAt0 }
  od }

init { atomic { run Relay(); run Relay(); run Clock() } }
