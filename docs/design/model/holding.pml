/* Holding: which incarnation of a relay has a bucket. Each holds a session, which ends with its process; its number
   stands in the rows of the buckets that it holds.

   One bucket, one key, N messages, R relays; the last one begins after another has died. A relay may die; it may lose
   its session while it lives, and comes back with another number; the server may fail over, and all lose theirs. A
   tick is the time between two looks: who has lost nothing but its session is back within one, except after a failover.

   Switches (-DNAME=value), defaults as planned:
   LOOKS  2  1: one look is enough to take what somebody holds who is not there
   GRACE  1  0: looks count at once after a failover
   FIRST  1  0: a relay takes the bucket before its session is there
   UNIQUE 1  0: the number of one that has died is drawn again
   COUNT  1  0: who takes the bucket does not count its token up
   FENCE  1  0: a settle does not ask for holder and token
   LEASE  0  1: a lease may also end while its holder lives and is there; the holder may prolong it then
   AGAIN  1  0: a take of what was free does not ask whether it still is                                              */
#ifndef N
#define N 2
#endif
#ifndef LOOKS
#define LOOKS 2
#endif
#ifndef GRACE
#define GRACE 1
#endif
#ifndef FIRST
#define FIRST 1
#endif
#ifndef UNIQUE
#define UNIQUE 1
#endif
#ifndef COUNT
#define COUNT 1
#endif
#ifndef FENCE
#define FENCE 1
#endif
#ifndef LEASE
#define LEASE 0
#endif
#ifndef AGAIN
#define AGAIN 1
#endif
#ifndef LOSSES
#define LOSSES 1         /* sessions that end while their relay lives */
#endif
#ifndef MAXT
#define MAXT 3           /* takes by another than who holds already; then nobody takes any more */
#endif
#define R 3
#define NOBODY 0
#define NUMBERS 8

byte last;                              /* the last number that was drawn */
byte nr[R];                             /* a relay's number; NOBODY: it has not begun */
bool lives[R]; bool out[R];             /* out: it lives, its session does not */
bool present[NUMBERS];                  /* by number */
byte holder = NOBODY; byte token; bool ended; byte epoch;
byte held[R];                           /* in memory, the token under which it holds the bucket; 0: it does not */
bool gone[N]; byte first;               /* settled; delivered, by bit */
byte seen[R]; bool ticked[R];           /* whom a relay has seen gone, and whether a tick went by */
byte vacant[R];                         /* the token, plus 1, of what a relay has seen free */
bool fresh;                             /* the server has just failed over */
byte losses; bool failed; byte deaths; byte takes;

#define waits (!gone[N-1])
#define ours(r,t) (holder==nr[r] && token==t)
#define isfree (holder==NOBODY || ended)

proctype Holder(byte me) { byte who;
  atomic { me<R-1 || deaths>0 ->
    if :: UNIQUE || deaths==0 -> last++; nr[me]=last :: else -> nr[me]=1 fi;
    lives[me]=1; present[nr[me]]=FIRST };
end:
  do
  :: atomic { !lives[me] -> break }
  :: atomic { lives[me] && !FIRST && !present[nr[me]] && !out[me] -> present[nr[me]]=1 }
  /* what nobody holds: a look, and later a write */
  :: atomic { lives[me] && !out[me] && isfree && waits && takes<MAXT && vacant[me]!=token+1 -> vacant[me]=token+1 }
  :: atomic { lives[me] && !out[me] && vacant[me]==token+1 && (!AGAIN || isfree) && waits && takes<MAXT ->
       assert(isfree || !present[holder]);                                               /* C1 */
       holder=nr[me]; token=(COUNT || token==0 -> token+1 : token); epoch++; ended=0; held[me]=token; seen[me]=0; vacant[me]=0; takes++ }
  /* what somebody holds who is not there: a look, and later a write, if it is as it was */
  :: atomic { lives[me] && !out[me] && holder!=NOBODY && holder!=nr[me] && !present[holder] && seen[me]!=holder && (!GRACE || !fresh) ->
       seen[me]=holder; ticked[me]=(LOOKS==1) }
  :: atomic { lives[me] && seen[me]!=0 && (holder!=seen[me] || present[holder]) -> seen[me]=0; ticked[me]=0 }
  :: atomic { lives[me] && !out[me] && seen[me]!=0 && ticked[me] && holder==seen[me] && !present[holder] && (!GRACE || !fresh) && takes<MAXT ->
       who=0; do :: who<R -> assert(!(nr[who]==holder && lives[who])); who++ :: else -> break od; who=0;
       holder=nr[me]; token=(COUNT -> token+1 : token); epoch++; ended=0; held[me]=token; seen[me]=0; ticked[me]=0; takes++ }
  /* prolonged after its end */
  :: atomic { lives[me] && held[me]!=0 && ours(me,held[me]) && ended && takes<MAXT -> ended=0 }
  /* given away */
  :: atomic { lives[me] && held[me]!=0 && ours(me,held[me]) && takes<MAXT-1 -> holder=NOBODY; held[me]=0 }
  /* the session is back */
  :: atomic { out[me] && lives[me] ->
       who=nr[me]; last++; nr[me]=last; present[last]=1; out[me]=0;
       if :: holder==who && !ended -> holder=last :: else -> held[me]=0 fi; who=0 }
  od }

proctype Worker(byte me) { byte have, i, j, t, number, mine;
end:
  do
  :: atomic { nr[me]!=NOBODY && !lives[me] -> break }
  :: atomic { lives[me] && held[me]!=0 && !ours(me,held[me]) && !out[me] -> held[me]=0 }
  :: atomic { lives[me] && held[me]!=0 && ours(me,held[me]) && !ended && waits ->       /* the look */
       t=held[me]; mine=epoch; number=nr[me];
       i=0; do :: i<N -> have=(gone[i] -> have : have|(1<<i)); i++ :: else -> break od; i=0 };
     do
     :: atomic { i<N && lives[me] && (have & (1<<i)) ->                                 /* publish: O1 */
          j=0; do :: j<i -> assert(gone[j] || (first & (1<<j))); j++ :: else -> break od; j=0;
          first=first|(1<<i); i++ }
     :: atomic { i<N && lives[me] && !(have & (1<<i)) -> i++ }
     :: atomic { i==N || !lives[me] -> break }
     od;
     atomic {                                                                           /* settle: S1 */
       if
       :: lives[me] && (!FENCE || (ours(me,t))) ->
          assert(mine==epoch);
          i=0; do :: i<N -> gone[i]=(gone[i] || ((have & (1<<i)) && (first & (1<<i)))); i++ :: else -> break od
       :: else
       fi;
       have=0; i=0; t=0; mine=0; number=0 }
  od }

#define die(r) atomic { deaths==0 && lives[r] && (present[nr[r]] || out[r]) -> lives[r]=0; present[nr[r]]=0; out[r]=0; deaths=1 }
#define lose(r) atomic { losses<LOSSES && !fresh && lives[r] && present[nr[r]] -> out[r]=1; present[nr[r]]=0; losses++ }

proctype World() { byte r;
end:
  do
  :: die(0) :: die(1) :: lose(0) :: lose(1)
  :: atomic { !failed && deaths==0 && (present[nr[0]] && lives[0] || present[nr[1]] && lives[1]) -> failed=1; fresh=1;
       r=0; do :: r<R -> if :: lives[r] && nr[r]!=NOBODY -> out[r]=1; present[nr[r]]=0 :: else fi; r++ :: else -> break od; r=0 }
  /* a tick */
  :: atomic { (fresh || !(out[0] || out[1] || out[2])) && (seen[0]!=0 && !ticked[0] || seen[1]!=0 && !ticked[1] || seen[2]!=0 && !ticked[2]) ->
       r=0; do :: r<R -> ticked[r]=(seen[r]!=0); r++ :: else -> break od; r=0 }
  :: atomic { fresh && !(out[0] || out[1] || out[2]) -> fresh=0 }
  :: atomic { LEASE && holder!=NOBODY && !ended && takes<MAXT -> ended=1 }
  od }

/* nothing is stuck: where nothing moves any more and a relay lives, all is delivered */
proctype Stuck() {
end:
  atomic { timeout -> assert(!waits || takes==MAXT || !(lives[0] || lives[1] || lives[2])) } }

init { atomic { run Holder(0); run Holder(1); run Holder(2); run Worker(0); run Worker(1); run Worker(2); run World(); run Stuck() } }
