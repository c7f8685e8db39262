/* Several buckets in one claim: some lost and some kept at a settle, kept ones handed on to the next claim, others
   leased in the same transaction, replies that are lost, leases that nobody knows of any more.

   W workers, B buckets, one key in each with M messages, all PENDING. A publisher delivers a run of them and stops
   anywhere. A worker may pause, crash or lose leases between any two steps.

   T1 lease some free buckets, read each                    Claims.lease, BatchReader
   T2 settle each bucket that is still held, keep some of   Claims.step, Claims.wanted, Claims.kept
      those that have more, release the others, lease more
   T3 settle, release                                       Claims.settle

   Owner id and token are not numbers here: valid says whether the bucket's row still has those of the claim that
   a worker has. A bucket that is held, and by no claim that anybody has, runs out.

   Switches (-DNAME=value), defaults as the code is:
   W 2, B 2, M 2
   FENCE     1  0: nothing is asked; 2: one bucket that is still held stands for the whole claim
   REPEAT    1  T2 commits, its reply is lost, and the settle is repeated as T3; 0: no reply is lost
   OVER      1  0: a claim that was settled and handed on may be settled again, and releases what was kept
   READFENCE 1  0: what was kept is read in a transaction of its own after the settle's commit, without the fence
   PREFETCH  0  1: a worker goes on to the next messages of a bucket before it has settled the first
   A worker that claimed other buckets while its first claim is unsettled is two workers here.               */
#ifndef W
#define W 2
#endif
#ifndef B
#define B 2
#endif
#ifndef M
#define M 2
#endif
#ifndef FENCE
#define FENCE 1
#endif
#ifndef REPEAT
#define REPEAT 1
#endif
#ifndef OVER
#define OVER 1
#endif
#ifndef READFENCE
#define READFENCE 1
#endif
#ifndef PREFETCH
#define PREFETCH 0
#endif

bool held[B]; bool expired[B];
byte done[B];                           /* how many messages are gone: the oldest one left */
bool valid[W*B];
/* ghosts */
bool live[W*B];                         /* claims by the server's clock */
byte seen[B];                           /* first deliveries */

inline unlease(x) { held[x]=0; expired[x]=0; c=0; do :: c<W -> valid[c*B+x]=0; c++ :: else -> break od; c=0 }

/* b: any bucket of which this is true, or B */
inline anyOf(true_of_b) { b=0; do :: b<B && true_of_b -> break :: b<B -> b++ :: b==B -> break od }

/* claim me has the bucket from now on (C1) */
inline hold(x) {
  held[x]=1; expired[x]=0; valid[me*B+x]=1; live[me*B+x]=1;
  c=0; do :: c<W -> assert(c==me || !live[c*B+x]); c++ :: else -> break od; c=0 }

inline readOne(x) {
  from[x]=done[x]; dec[x]=done[x];
  if :: upto[x]=done[x]+1 :: upto[x]=M fi; have[x]=1 }

/* of the free ones with work, any */
inline leaseSome() {
  b=0; do :: b<B ->
        if :: (!held[b] || expired[b]) && done[b]<M -> unlease(b); hold(b); readOne(b) :: skip fi;
        b++ :: else -> break od; b=0 }

inline drop(x) { have[x]=0; from[x]=0; upto[x]=0; dec[x]=0 }

proctype Claim(byte me) {
  bool have[B]; byte from[B]; byte upto[B]; byte dec[B];
#if !OVER || !READFENCE
  bool was[B];                          /* kept when the claim before was settled */
#endif
  byte b, c; bool any, twice, more;
again:
  atomic { leaseSome();                                                       /* T1 */
     do :: b<B && !have[b] -> b++ :: else -> break od;
     if :: b==B -> b=0; goto again :: else b=0 fi }
publish:
  do
  :: atomic { anyOf(have[b] && dec[b]<upto[b]);                               /* O1 */
        if :: b<B -> assert(dec[b]<=seen[b]); if :: dec[b]==seen[b] -> seen[b]++ :: else fi; dec[b]++
           :: else fi; b=0 }
#if PREFETCH==1
  :: atomic { anyOf(have[b] && dec[b]<upto[b] && upto[b]<M);
        if :: b<B -> assert(upto[b]<=seen[b]); if :: upto[b]==seen[b] -> seen[b]++ :: else fi :: else fi; b=0 }
#endif
#if !OVER
  :: atomic { anyOf(was[b] && valid[me*B+b]); if :: b<B -> unlease(b); was[b]=0 :: else fi; b=0 }
#endif
  :: atomic {                                                                 /* crash */
        do :: b<B -> valid[me*B+b]=0; live[me*B+b]=0; drop(b); b++ :: else -> break od; b=0; twice=0; goto again }
  :: break                                                                    /* the others are not delivered */
  od;
decide:
  atomic { b=0;
     do :: b<B -> any=(any || (have[b] && valid[me*B+b])); b++ :: else -> break od; b=0;
     if :: !twice -> if :: more=1 :: more=0 fi :: else fi;
     do :: b<B ->
           if :: !have[b] -> skip
              :: have[b] && (valid[me*B+b] || FENCE==0 || (FENCE==2 && any)) ->
                    assert(done[b]==from[b] || twice);                        /* S1: nobody else has settled it */
                    done[b]=(done[b]<dec[b] -> dec[b] : done[b]);
                    if :: more && valid[me*B+b] && dec[b]==upto[b] && done[b]<M -> hold(b)   /* kept; late is fine */
                       :: live[me*B+b]=0; unlease(b)                          /* released, this one or all */
                    fi
              :: else -> live[me*B+b]=0; drop(b)                              /* lost, and so reported */
           fi; b++ :: else -> break od; b=0; any=0;
     if
#if REPEAT
     :: more ->                              /* others are leased, the reply is lost: nobody knows of those */
           twice=1; more=0;
           do :: b<B ->
                 if :: !valid[me*B+b] && (!held[b] || expired[b]) && done[b]<M -> unlease(b); held[b]=1 :: skip fi;
                 b++ :: else -> break od; b=0; goto decide
#endif
     :: !more -> do :: b<B -> drop(b); b++ :: else -> break od; b=0; twice=0; goto again
     :: more ->
           do :: b<B -> drop(b);
#if !OVER || !READFENCE
                 was[b]=valid[me*B+b];
#endif
                 b++ :: else -> break od; b=0 fi;
#if !READFENCE
  }
  atomic {
#endif
     more=0;
     do :: b<B -> if :: valid[me*B+b] && READFENCE -> readOne(b)
#if !READFENCE
                     :: was[b] && done[b]<M -> unlease(b); hold(b); readOne(b)
#endif
                     :: else fi; b++ :: else -> break od; b=0;
     leaseSome();
     do :: b<B && !have[b] -> b++ :: else -> break od;
     if :: b==B -> b=0; goto again :: else b=0; goto publish fi }
}

proctype Env() { byte b, c;
  do :: atomic { anyOf(held[b] && !expired[b]);
           if :: b<B -> expired[b]=1; do :: c<W -> live[c*B+b]=0; c++ :: else -> break od; c=0 :: else fi; b=0 }
  od }

init { atomic { byte c; run Env(); do :: c<W -> run Claim(c); c++ :: else -> break od } }
