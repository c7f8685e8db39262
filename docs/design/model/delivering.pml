/* What a relay holds: its workers take turns with the leases of what they have settled, and look there first.

   One bucket, one key, N messages; what a producer commits can be seen before it is durable. Relay 0 has two workers,
   relay 1 has one. A lease may end at any time; the server may fail and lose what is not durable. A settle may be
   carried out though its worker is not told so: then it is repeated, or left to its lease.

   Switches (-DNAME=value), defaults as planned:
   N     2
   ASKS  1  0: a look does not ask whether the lease is still held
   SAFE  1  0: a look does not ask whether what it reads is durable
   OURS  1  0: what a look read and was made durable after it is handed out whoever holds the lease then
   ONE   1  0: it is made durable in another transaction than the look's, which a failure of the server does not end
   SAME  1  0: whether it has become durable meanwhile is asked of a server that may have failed since the look
   TAKES 1  0: a look leaves the lease in memory, where another worker finds it
   BACK  1  0: a lease is kept also when nobody knows whether the settle was carried out
   LOCKS 1  0: a close look does not lock what it prolongs                                                          */
#ifndef N
#define N 2
#endif
#ifndef ASKS
#define ASKS 1
#endif
#ifndef SAFE
#define SAFE 1
#endif
#ifndef OURS
#define OURS 1
#endif
#ifndef ONE
#define ONE 1
#endif
#ifndef SAME
#define SAME 1
#endif
#ifndef TAKES
#define TAKES 1
#endif
#ifndef BACK
#define BACK 1
#endif
#ifndef LOCKS
#define LOCKS 1
#endif
#define W 3
#ifndef MAXT
#define MAXT 4
#endif
#define BIT(i) (1<<(i))
#define ABSENT 0
#define SEEN 1          /* committed, not durable */
#define THERE 2
#define GONE 3
#define LOST 4          /* by a failure of the server */
#define NOBODY 2
#define RELAY(w) (w==2)

byte st[N]; byte next;
byte holder = NOBODY; byte token; bool ended;
byte pool[2];                           /* of a relay, in memory: the token of the lease that waits, or 0 */
byte t[W];                              /* of a worker's claim */
bool live[W];
bool failures;                          /* of the server: one at most */
byte first;                             /* by bit: was delivered */

inline flush() { j=0; do :: j<N -> if :: st[j]==SEEN -> st[j]=THERE :: else fi; j++ :: else -> break od; j=0 }

inline durable(yes) { yes=1; j=0; do :: j<N -> if :: st[j]==SEEN -> yes=0 :: else fi; j++ :: else -> break od; j=0 }

#define held(w) (holder==RELAY(w) && token==t[w])

/* the first message, or all */
inline read() {
  if :: lim=1 :: lim=N fi; j=0;
  do :: j<N && lim>0 -> if :: st[j]==SEEN || st[j]==THERE -> have=have|BIT(j); lim-- :: else fi; j++ :: else -> break od; j=0; lim=0 }

/* C1 */
inline begin() {
  j=0; do :: j<W -> assert(!(j!=me && live[j] && held(j) && !ended)); j++ :: else -> break od; j=0;
  live[me]=1 }

proctype Producer() {
end:
  do
  :: atomic { next<N -> st[next]=SEEN; next++ }
  :: atomic { next<N -> st[next]=THERE; next++ }
  od }

/* what others write makes durable what was written before */
proctype Disk() { byte j; bool yes;
end:
  do :: atomic { durable(yes); !yes -> flush() } od }

proctype Clock() {
end:
  do :: atomic { holder!=NOBODY && !ended && token<MAXT -> ended=1 } od }

/* the server fails and comes back: A1 */
proctype Failure() { byte j;
  atomic { do :: j<N -> assert(!(st[j]==SEEN && (first & BIT(j)))); st[j]=(st[j]==SEEN -> LOST : st[j]); j++ :: else -> break od; failures=1 } }

proctype Worker(byte me) { byte have, j, i, lim; bool yes, sure, era;
end:
  do
  :: atomic { have==0 && pool[RELAY(me)]!=0 -> t[me]=pool[RELAY(me)];
#if TAKES
       pool[RELAY(me)]=0
#endif
     };
     atomic {                                                                 /* the look */
       durable(yes); era=failures;
       sure=(!ASKS || (held(me) && !ended));
       if :: sure -> read() :: else fi;
       if :: sure && have!=0 && (!SAFE || yes) -> begin()
          :: sure && have==0 -> pool[RELAY(me)]=t[me]; t[me]=0
          :: else fi };
     if
     :: have!=0 && !live[me] ->
        atomic {                                                              /* became durable by itself: the claim is the look's */
          durable(yes); yes && (!SAME || era==failures) -> live[me]=1 }
     :: have!=0 && !live[me] ->
        atomic {                                                              /* prolonged, which makes it durable */
          ended=(held(me) -> 0 : ended); flush();
          if :: (!OURS || held(me)) && (!ONE || era==failures) -> begin() :: else -> have=0; t[me]=0 fi }
     :: !sure && t[me]!=0 ->
        atomic {                                                              /* the close look */
          if :: !LOCKS || held(me) -> ended=(held(me) -> 0 : ended); flush(); read();
                if :: have!=0 -> begin() :: else -> pool[RELAY(me)]=t[me]; t[me]=0 fi
             :: else -> t[me]=0 fi }
     :: else
     fi
  :: atomic { have==0 && pool[RELAY(me)]==0 && (holder==NOBODY || ended) && token<MAXT ->
       read();
       if :: have!=0 -> token++; holder=RELAY(me); ended=0; t[me]=token; flush(); begin() :: else fi }
  :: have!=0 ->
     i=0;
     do
     :: atomic { i<N && (have & BIT(i)) ->                                    /* publish: A1, O1 */
          assert(st[i]!=LOST);
          j=0; do :: j<i -> assert(st[j]>=GONE || (first & BIT(j)) ); j++ :: else -> break od; j=0;
          first=first|BIT(i); i++ }
     :: atomic { i<N && !(have & BIT(i)) -> i++ }
     :: atomic { i==N -> i=0; break }
     od;
repeat:
     atomic {                                                                 /* settle */
       if :: held(me) ->
             j=0; do :: j<N -> st[j]=((have & BIT(j)) -> GONE : st[j]); j++ :: else -> break od; j=0; flush();
             if
             :: have=0; live[me]=0; pool[RELAY(me)]=t[me]; t[me]=0            /* kept */
             :: have=0; live[me]=0; holder=NOBODY; ended=0; t[me]=0           /* given back */
             :: if :: BACK==0 -> pool[RELAY(me)]=t[me] :: else fi; goto repeat   /* not told */
             :: have=0; live[me]=0; t[me]=0                                   /* not told, and left to its lease */
             fi
          :: else -> have=0; live[me]=0; t[me]=0 fi }
  od }

init { atomic { run Producer(); run Disk(); run Clock(); run Failure(); run Worker(0); run Worker(1); run Worker(2) } }
